#include "base/half_text.hpp"

#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/half.hpp"

namespace strom::base {

namespace {

double read_rounded(const char* text, char** end, int direction) {
  std::fesetround(direction);
  return std::strtod(text, end);
}

// The number rounded to odd: the last bit is set where digits were lost. As a half it is then what the text is, since a
// double that lies between two halves is there only if the text does, too.
double read_to_odd(const char* text, char** end) {
  const int caller = std::fegetround();
  const double low = read_rounded(text, end, FE_DOWNWARD), high = read_rounded(text, end, FE_UPWARD);
  std::fesetround(caller);
  const double inner = std::signbit(low) ? high : low;
  if (std::isnan(low) || low == high) return inner;
  uint64_t bits;
  std::memcpy(&bits, &inner, sizeof bits);
  bits |= 1;
  double odd;
  std::memcpy(&odd, &bits, sizeof odd);
  return odd;
}

}  // namespace

HalfText half_of_text(const char* text, char** end, uint16_t* half) {
  const double value = read_to_odd(text, end);
  if (*end == text) return HalfText::kNoNumber;
  *half = double_to_half(value);
  const bool is_infinite = (*half & 0x7fff) == 0x7c00, is_zero = (*half & 0x7fff) == 0;
  return (is_infinite && !std::isinf(value)) || (is_zero && value != 0) ? HalfText::kOutOfRange : HalfText::kDone;
}

}  // namespace strom::base
