// Numbers as PostgreSQL prints them. Every function writes at `out`, without a terminating zero, and returns the end of
// the text. It may write up to kSlack bytes beyond that. Used by the writers of text in this folder.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/int128.hpp"

namespace strom::format::csv {

/// Room needed behind a text, because texts are written in words of up to 16 bytes.
inline constexpr int64_t kSlack = 32;

namespace number_detail {

inline constexpr uint64_t kZeros = 0x3030303030303030;
inline constexpr uint32_t kTenTo8 = 100'000'000;
inline constexpr uint64_t kTenTo16 = 10'000'000'000'000'000;

/// The eight decimal digits of `value` < 10^8, a byte each, the first in the lowest byte. Multiplication finds the
/// quotients of all pairs in parallel (P. Khuong, "How to print integers really fast").
inline uint64_t eight_digits(uint32_t value) {
  const uint64_t fours = (value / 10'000) | (static_cast<uint64_t>(value % 10'000) << 32);
  const uint64_t hundreds = ((fours * 10'486) >> 20) & 0x0000'007F'0000'007F;
  const uint64_t pairs = ((fours - hundreds * 100) << 16) + hundreds;
  const uint64_t tens = ((pairs * 103) >> 10) & 0x000F'000F'000F'000F;
  return tens + ((pairs - tens * 10) << 8);
}

inline char* put_word(char* out, uint64_t word) {
  std::memcpy(out, &word, sizeof(word));
  return out + sizeof(word);
}

inline char* put_eight_digits(char* out, uint32_t value) { return put_word(out, eight_digits(value) + kZeros); }

/// `value` < 10^8 without leading zeros.
__attribute__((always_inline)) inline char* put_small(char* out, uint32_t value) {
  const uint64_t digits = eight_digits(value);
  const int leading = std::countr_zero(digits | (uint64_t{1} << 56)) & ~7;  // bits; the last digit always stays
  put_word(out, (digits + kZeros) >> leading);
  return out + (64 - leading) / 8;
}

inline char* put_sixteen_digits(char* out, uint64_t value) {
  out = put_eight_digits(out, static_cast<uint32_t>(value / kTenTo8));
  return put_eight_digits(out, static_cast<uint32_t>(value % kTenTo8));
}

/// Writes a sign without a branch that depends on it.
inline char* put_sign(char* out, bool negative) {
  *out = '-';
  return out + negative;
}

}  // namespace number_detail

inline char* put_uint64(char* out, uint64_t value) {
  using namespace number_detail;
  if (value < kTenTo8) return put_small(out, static_cast<uint32_t>(value));
  if (value < kTenTo16) {
    out = put_small(out, static_cast<uint32_t>(value / kTenTo8));
    return put_eight_digits(out, static_cast<uint32_t>(value % kTenTo8));
  }
  out = put_small(out, static_cast<uint32_t>(value / kTenTo16));
  return put_sixteen_digits(out, value % kTenTo16);
}

inline char* put_int64(char* out, int64_t value) {
  out = number_detail::put_sign(out, value < 0);
  return put_uint64(out, value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
}

__attribute__((always_inline)) inline char* put_int32(char* out, int32_t value) {
  out = number_detail::put_sign(out, value < 0);
  const uint32_t magnitude = value < 0 ? -static_cast<uint32_t>(value) : static_cast<uint32_t>(value);
  if (magnitude < number_detail::kTenTo8) return number_detail::put_small(out, magnitude);
  return put_uint64(out, magnitude);
}

inline char* put_uint128(char* out, base::uint128 value) {
  using namespace number_detail;
  if (value >> 64 == 0) return put_uint64(out, static_cast<uint64_t>(value));
  const base::uint128 high = value / kTenTo16;
  out = put_uint128(out, high);
  return put_sixteen_digits(out, static_cast<uint64_t>(value - high * kTenTo16));
}

/// Bytes that put_decimal() may write for this scale.
constexpr int64_t decimal_room(int32_t scale) { return 43 + (scale < 0 ? -scale : scale); }

/// unscaled / 10^scale with exactly `scale` digits after the point; a negative scale adds zeros.
inline char* put_decimal(char* out, base::int128 unscaled, int32_t scale) {
  using namespace number_detail;
  out = put_sign(out, unscaled < 0);
  const base::uint128 magnitude =
      unscaled < 0 ? -static_cast<base::uint128>(unscaled) : static_cast<base::uint128>(unscaled);
  if (scale == 0) return put_uint128(out, magnitude);
  if (scale > 0 && scale < 16 && magnitude < kTenTo16) {
    char digits[32];  // the sixteen digits, and room to copy words from anywhere in them
    put_sixteen_digits(digits, static_cast<uint64_t>(magnitude));
    const char* point = digits + 16 - scale;
    const char* first = digits;
    uint64_t words[2];
    std::memcpy(words, digits, sizeof(words));
    words[0] -= kZeros;
    words[1] -= kZeros;
    first += words[0] != 0 ? std::countr_zero(words[0]) / 8 : 8 + std::countr_zero(words[1] | (uint64_t{1} << 56)) / 8;
    if (first >= point) first = point - 1;
    std::memcpy(out, first, 16);
    out += point - first;
    *out++ = '.';
    std::memcpy(out, point, 16);
    return out + scale;
  }
  char digits[64];
  const int64_t count = put_uint128(digits, magnitude) - digits;
  if (scale < 0) {
    std::memcpy(out, digits, static_cast<size_t>(count));
    out += count;
    if (magnitude == 0) return out;
    std::memset(out, '0', static_cast<size_t>(-scale));
    return out - scale;
  }
  const int64_t whole = count > scale ? count - scale : 0;
  if (whole == 0) *out++ = '0';
  std::memcpy(out, digits, static_cast<size_t>(whole));
  out += whole;
  *out++ = '.';
  const int64_t zeros = scale - (count - whole);
  std::memset(out, '0', static_cast<size_t>(zeros));
  std::memcpy(out + zeros, digits + whole, static_cast<size_t>(count - whole));
  return out + scale;
}

/// Bytes that put_float() may write.
inline constexpr int64_t kFloatRoom = 32;

/// Writes any value by the shortest digits that read back as the same value, as float8out and float4out do.
char* put_float_slowly(char* out, double value);
char* put_float_slowly(char* out, float value);

/// Most values in tables have few digits. With at most 15 digits (float: 6), only one text reads back as the value. So
/// a text with two decimal places that reads back as the value is the shortest one.
template <class Float>
inline char* put_float(char* out, Float value) {
  constexpr double kMostDigits = sizeof(Float) == 8 ? 1e15 : 1e6;
  const double magnitude = std::fabs(static_cast<double>(value));
  const double hundredths = magnitude * 100;
  if (hundredths < kMostDigits) {  // false for NaN
    const auto rounded = static_cast<uint64_t>(hundredths + 0.5);
    if (static_cast<Float>(static_cast<double>(rounded) / 100) == std::fabs(value)) {
      out = number_detail::put_sign(out, std::signbit(value));
      const auto whole = rounded / 100;
      const auto fraction = static_cast<uint32_t>(rounded % 100);
      out = put_uint64(out, whole);
      const char text[3] = {'.', static_cast<char>('0' + fraction / 10), static_cast<char>('0' + fraction % 10)};
      std::memcpy(out, text, sizeof(text));
      return out + (fraction == 0 ? 0 : fraction % 10 == 0 ? 2 : 3);
    }
  }
  return put_float_slowly(out, value);
}

}  // namespace strom::format::csv
