// See time_window.hpp.
#include "arrow_files/time_window.hpp"

#include <ctime>

namespace strom::tool {

namespace {

constexpr int64_t kNano = 1000000000;

int64_t divided(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

int64_t saturated(int64_t seconds) {
  int64_t out = 0;
  if (!__builtin_mul_overflow(seconds, kNano, &out)) return out;
  return seconds < 0 ? INT64_MIN : INT64_MAX;
}

}  // namespace

void TimeWindows::look_up(int64_t time) {
  if (seconds_ == 0) {
    begin_ = INT64_MIN;
    end_ = INT64_MAX;
    return;
  }
  const time_t seconds = divided(time, kNano);
  tm local{};
  const int64_t offset = localtime_r(&seconds, &local) == nullptr ? 0 : int64_t{local.tm_gmtoff};
  number_ = divided(int64_t{seconds} + offset, seconds_);
  begin_ = saturated(number_ * seconds_ - offset);
  end_ = saturated((number_ + 1) * seconds_ - offset);
}

}  // namespace strom::tool
