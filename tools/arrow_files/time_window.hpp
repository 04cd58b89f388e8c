// Which output file a packet or an event belongs to, by its time.
#pragma once

#include <cstdint>

namespace strom::tool {

/// Spans of time of the same length, which begin at whole multiples of it in local time. Numbers go up with time. Of a
/// length of 0 seconds there is one.
class TimeWindows {
 public:
  explicit TimeWindows(int64_t seconds) : seconds_(seconds) {}

  /// The span of a time in nanoseconds.
  int64_t number_of(int64_t time) {
    if (time < begin_ || time >= end_) look_up(time);
    return number_;
  }
  /// The end of the span that number_of() found last, in nanoseconds.
  int64_t end() const { return end_; }
  int64_t begin() const { return begin_; }

 private:
  void look_up(int64_t time);

  const int64_t seconds_;
  int64_t number_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace strom::tool
