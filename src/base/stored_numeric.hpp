// PostgreSQL's stored numeric, behind the varlena header: a header and base-10000 digits of 16 bits, most significant
// first. Short header, 16 bits: 10, sign, 6 bits display scale, 7 bits signed weight. Long header: 16 bits sign (2) and
// display scale (14), then a 16-bit weight. The value is the sum of digit[i] * 10000^(weight - i). An on-disk format,
// the same in all supported versions. Read by the engine's loaders and functions of jsonb, and by pg/codec. Single
// source; reads each byte once.
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
  for (unsigned i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<uint8_t>(bytes[i])) << (8 * i));
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
    *header = {(word & kShortNegative) != 0, ((word & kShortWeightMask) ^ 0x40) - 0x40,
               (word & kShortScaleMask) >> kShortScaleShift, 2};
    return true;
  }
  if (length < 4) return false;
  *header = {(word & kSignMask) == kNegative, static_cast<int16_t>(load_unaligned<uint16_t>(bytes + 2)),
             word & kScaleMask, 4};
  return true;
}

/// `count` digits as one number; false when it takes more than 128 bits.
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

/// The same without the last `cut` decimal places, which must be zeros: what is left may be a number where all of it is
/// not.
STROM_BASE_INLINE bool read_cut_digits(const char* bytes, int count, int cut, uint128* digits) {
  for (; count > 0 && cut >= kNumericBaseDigits; cut -= kNumericBaseDigits)
    if (load_unaligned<uint16_t>(bytes + 2 * --count) != 0) return false;
  *digits = 0;
  if (count == 0) return true;
  if (cut == 0) return read_numeric_digits(bytes, count, digits);
  const auto unit = static_cast<uint16_t>(power_of_ten(cut));
  const auto last = load_unaligned<uint16_t>(bytes + 2 * (count - 1));
  uint128 value;
  if (last >= kNumericBase || last % unit != 0 || !read_numeric_digits(bytes, count - 1, &value)) return false;
  const uint128 step = static_cast<uint128>(kNumericBase / unit), rest = static_cast<uint128>(last / unit);
  if (value > (~uint128{0} - rest) / step) return false;
  *digits = value * step + rest;
  return true;
}

/// Decimal places between the digits as one number and the value times 10^scale.
STROM_BASE_INLINE int numeric_shift(const NumericHeader& header, int count, int scale) {
  return (header.weight - (count - 1)) * kNumericBaseDigits + scale;
}

/// The value behind the header times 10^`scale`. False when digits would be lost or it does not fit into 38 digits.
STROM_BASE_INLINE bool read_numeric_value(const char* bytes, int64_t length, const NumericHeader& header, int scale,
                                          int128* unscaled) {
  const int count = static_cast<int>((length - header.size) / 2);
  const auto limit = static_cast<uint128>(power_of_ten(kMaxDecimalDigits));
  const int shift = numeric_shift(header, count, scale);
  uint128 value;
  if (!read_cut_digits(bytes + header.size, count, shift < 0 ? -shift : 0, &value) || value >= limit) return false;
  auto magnitude = static_cast<int128>(value);
  if (shift > 0 && !rescale_decimal(&magnitude, 0, shift)) return false;
  *unscaled = header.negative ? -magnitude : magnitude;
  return static_cast<uint128>(magnitude) < limit;
}

/// A stored numeric (`length` bytes at `bytes`, of any alignment) times 10^`scale`. False when it is NaN or infinite,
/// has digits behind `scale`, does not fit into 38 digits, or is no numeric.
STROM_BASE_INLINE bool numeric_to_int128(const char* bytes, int64_t length, int scale, int128* unscaled) {
  NumericHeader header;
  return read_numeric_header(bytes, length, &header) && read_numeric_value(bytes, length, header, scale, unscaled);
}

/// The value with the display scale that it has, as int128.hpp lays such decimals out. False when it has no place
/// there.
STROM_BASE_INLINE bool numeric_to_decimal(const char* bytes, int64_t length, int128* decimal) {
  NumericHeader header;
  int128 unscaled;
  return read_numeric_header(bytes, length, &header) &&
         read_numeric_value(bytes, length, header, header.scale, &unscaled) &&
         make_decimal(unscaled, header.scale, decimal);
}

/// The same without zeros behind the point, whatever the display scale: a value has a place there if an equal one has.
STROM_BASE_INLINE bool numeric_to_shortest_decimal(const char* bytes, int64_t length, int128* decimal) {
  NumericHeader header;
  if (!read_numeric_header(bytes, length, &header)) return false;
  int count = static_cast<int>((length - header.size) / 2), scale = 0;
  const auto digit = [&](int i) { return load_unaligned<uint16_t>(bytes + header.size + 2 * i); };
  while (count > 0 && digit(count - 1) == 0) --count;
  if (count > 0) {
    scale = (count - 1 - header.weight) * kNumericBaseDigits;
    for (int last = digit(count - 1); last % 10 == 0; last /= 10) --scale;
  }
  scale = scale < 0 ? 0 : scale;
  int128 unscaled;
  return read_numeric_value(bytes, header.size + 2 * count, header, scale, &unscaled) &&
         make_decimal(unscaled, scale, decimal);
}

// ---- many numerics at once, for CPUs ----

inline constexpr int kOrdinaryScale = 4;

/// Most of the numerics that there are: below 10^8, with at most four places behind the point. Without branches that
/// depend on a value's number of digits, which nobody can predict.
struct OrdinaryNumeric {
  uint64_t magnitude;  // times 10^kOrdinaryScale
  bool negative;
};

/// Divides magnitudes of OrdinaryNumeric by 10^n, 0 <= n <= kOrdinaryScale, by a multiplication.
struct OrdinaryDivisor {
  uint64_t unit, reciprocal;

  explicit OrdinaryDivisor(int n)
      : unit(static_cast<uint64_t>(power_of_ten(n))), reciprocal(((uint64_t{1} << 63) + unit - 1) / unit) {}
  /// False when there is a remainder.
  STROM_BASE_INLINE bool divide(uint64_t magnitude, uint64_t* quotient) const {
    *quotient = static_cast<uint64_t>(static_cast<uint128>(magnitude) * reciprocal >> 63);
    return *quotient * unit == magnitude;
  }
};

/// False when it is none, or no numeric at all. Reads up to two bytes before `bytes`, where a stored value has its
/// length.
STROM_BASE_INLINE bool read_ordinary_numeric(const char* bytes, int64_t length, OrdinaryNumeric* value) {
  constexpr uint64_t kDigitMask = 0xFFFF;
  *value = {};
  if (length < 2 || length > 8 || length % 2 != 0) return false;
  const int before = length < 4 ? 2 : 0;
  const uint64_t low = load_unaligned<uint32_t>(bytes - before) >> (8 * before);
  const uint64_t high = uint64_t{load_unaligned<uint32_t>(bytes + length - 4)} << (8 * (length - 4) & 63);
  const uint64_t word = (low | high) & ~uint64_t{0} >> (64 - 8 * length);
  const int weight = (static_cast<int>(word & 0x7F) ^ 0x40) - 0x40;
  const bool third_is_lost = (weight < 0) & ((word >> 48) != 0);
  const bool placeable = ((word & 0xC000) == 0x8000) & (weight >= -1) & (weight <= 1) & !third_is_lost;
  // The first digit is the lowest 16 bits: digits move up until the one before the last stands for ones.
  const uint64_t digits = (word >> 16) << (16 * (1 - weight) & 63);
  const uint64_t first = digits & kDigitMask, second = digits >> 16 & kDigitMask, third = digits >> 32;
  const bool valid = (first < kNumericBase) & (second < kNumericBase) & (third < kNumericBase);
  value->magnitude = (first * kNumericBase + second) * kNumericBase + third;
  value->negative = (word & 0x2000) != 0;
  return placeable & valid;
}

/// Reads many stored numerics: times 10^`scale`, or with their own scale (kOwnScale).
class StoredNumericReader {
 public:
  explicit StoredNumericReader(int scale)
      : scale_(scale), divisor_(scale >= 0 && scale <= kOrdinaryScale ? kOrdinaryScale - scale : 0) {}

  /// False where numeric_to_int128() or numeric_to_decimal() is. Reads up to two bytes before `bytes`.
  STROM_BASE_INLINE bool read(const char* bytes, int64_t length, int128* to) const {
    if (scale_ == kOwnScale) return read_own(bytes, length, to) || numeric_to_decimal(bytes, length, to);
    if (scale_ >= 0 && scale_ <= kOrdinaryScale && read_scaled(bytes, length, to)) return true;
    return numeric_to_int128(bytes, length, scale_, to);
  }

  /// The ordinary ones alone, with their own scale if that is no larger than kOrdinaryScale. Without branches.
  STROM_BASE_INLINE static bool read_own(const char* bytes, int64_t length, int128* to) {
    constexpr uint64_t kOne = uint64_t{1} << 63;
    constexpr uint64_t kReciprocals[8] = {kOne / 10000 + 1, kOne / 1000 + 1, kOne / 100 + 1, kOne / 10 + 1, kOne};
    OrdinaryNumeric value;
    const bool ordinary = read_ordinary_numeric(bytes, length, &value);
    const unsigned scale = ordinary ? (load_unaligned<uint16_t>(bytes) & 0x1F80) >> 7 : 0;
    const auto quotient = static_cast<int64_t>(static_cast<uint128>(value.magnitude) * kReciprocals[scale & 7] >> 63);
    const int64_t unscaled = value.negative ? -quotient : quotient;
    *to = static_cast<int128>(unscaled) * (1 << kDecimalScaleBits) | scale;
    return ordinary & (scale <= kOrdinaryScale);
  }

  /// The ordinary ones alone, where 0 <= scale <= kOrdinaryScale. Without branches.
  STROM_BASE_INLINE bool read_scaled(const char* bytes, int64_t length, int128* to) const {
    OrdinaryNumeric value;
    const bool ordinary = read_ordinary_numeric(bytes, length, &value);
    uint64_t quotient;
    const bool exact = divisor_.divide(value.magnitude, &quotient);
    *to = value.negative ? -static_cast<int64_t>(quotient) : static_cast<int64_t>(quotient);
    return ordinary & exact;
  }

 private:
  int scale_;
  OrdinaryDivisor divisor_;
};

}  // namespace strom::base
