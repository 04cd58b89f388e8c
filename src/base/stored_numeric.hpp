// PostgreSQL's stored numeric, behind the varlena header: a header and base-10000 digits of 16 bits, most significant first.
// Short header, 16 bits: 10, sign, 6 bits display scale, 7 bits signed weight. Long header: 16 bits sign (2) and display scale
// (14), then a 16-bit weight. The value is the sum of digit[i] * 10000^(weight - i). An on-disk format, the same in all supported
// versions. Read by format/heap and by the engine's functions of jsonb. Single source; reads each byte once.
#pragma once

#include <cstdint>

#include "base/int128.hpp"
#include "base/single_source.hpp"

namespace strom::base {

inline constexpr int kNumericBase = 10000;
inline constexpr int kNumericBaseDigits = 4;

/// Of any alignment.
template <class T>
STROM_BASE_INLINE T load_unaligned(const char* bytes) {
#if defined(__CUDACC__)
  T value = 0;
  for (unsigned i = 0; i < sizeof(T); ++i) value = static_cast<T>(value | static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i));
#else
  T value;
  __builtin_memcpy(&value, bytes, sizeof value);
#endif
  return value;
}

struct NumericHeader {
  bool negative;
  int weight, scale;
  int size;  // bytes
};

/// False for NaN, infinities, and what is no numeric.
STROM_BASE_INLINE bool read_numeric_header(const char* bytes, int64_t length, NumericHeader* header) {
  constexpr uint16_t kSignMask = 0xC000, kNegative = 0x4000, kShort = 0x8000, kSpecial = 0xC000;
  constexpr uint16_t kShortNegative = 0x2000, kShortWeightMask = 0x007F, kShortScaleMask = 0x1F80, kScaleMask = 0x3FFF;
  constexpr int kShortScaleShift = 7;
  if (length < 2) return false;
  const auto word = load_unaligned<uint16_t>(bytes);
  if ((word & kSignMask) == kSpecial) return false;
  if ((word & kSignMask) == kShort) {
    *header = {(word & kShortNegative) != 0, ((word & kShortWeightMask) ^ 0x40) - 0x40, (word & kShortScaleMask) >> kShortScaleShift,
               2};
    return true;
  }
  if (length < 4) return false;
  *header = {(word & kSignMask) == kNegative, static_cast<int16_t>(load_unaligned<uint16_t>(bytes + 2)), word & kScaleMask, 4};
  return true;
}

/// `count` digits as one number; false when it is too large.
STROM_BASE_INLINE bool read_numeric_digits(const char* bytes, int count, uint128* digits) {
  constexpr int kInWord = 4;  // 10^16
  uint64_t low = 0;
  int i = 0;
  for (; i < count && i < kInWord; ++i) {
    const auto digit = load_unaligned<uint16_t>(bytes + 2 * i);
    if (digit >= kNumericBase) return false;
    low = low * kNumericBase + digit;
  }
  uint128 value = low;
  for (; i < count; ++i) {
    const auto digit = load_unaligned<uint16_t>(bytes + 2 * i);
    if (digit >= kNumericBase || value > (~uint128{0} - digit) / kNumericBase) return false;
    value = value * kNumericBase + digit;
  }
  *digits = value;
  return true;
}

/// Decimal places between the digits as one number and the value times 10^scale.
STROM_BASE_INLINE int numeric_shift(const NumericHeader& header, int count, int scale) {
  return (header.weight - (count - 1)) * kNumericBaseDigits + scale;
}

}  // namespace strom::base
