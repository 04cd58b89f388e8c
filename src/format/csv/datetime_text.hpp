// Dates and timestamps as PostgreSQL prints them with DateStyle ISO, and as its JSON functions print them. The
// conventions are those of number_text.hpp.
#pragma once

#include <cstdint>
#include <cstring>

#include "columnar/schema.hpp"
#include "format/csv/number_text.hpp"

namespace strom::format::csv {

inline constexpr int64_t kDateRoom = 24;
inline constexpr int64_t kTimestampRoom = 56;

namespace datetime_detail {

struct Civil {
  int64_t year = 0;
  uint32_t month = 0, day = 0;
};

/// Days since 1970-01-01 in the proleptic Gregorian calendar (C. Neri, L. Schneider, "Euclidean affine functions and
/// their application to calendar algorithms").
inline Civil civil_from_days(int64_t days) {
  constexpr int64_t kEpoch = 719'468;  // days from 0000-03-01
  constexpr int64_t kDaysOf400Years = 146'097;
  const int64_t shifted = days + kEpoch;
  // Takes out whole periods of 400 years, so that the rest is small and not negative.
  const int64_t period = shifted >= 0 ? shifted / kDaysOf400Years : -((-shifted - 1) / kDaysOf400Years) - 1;
  const auto n1 = static_cast<uint32_t>(4 * (shifted - period * kDaysOf400Years) + 3);
  const uint32_t century = n1 / 146'097;
  const uint32_t n2 = n1 % 146'097 / 4 * 4 + 3;
  const uint64_t p2 = uint64_t{2'939'745} * n2;
  const auto year_of_century = static_cast<uint32_t>(p2 >> 32);
  const auto day_of_year = static_cast<uint32_t>(p2) / 2'939'745 / 4;
  const uint32_t n3 = 2'141 * day_of_year + 197'913;
  const bool is_next_year = day_of_year >= 306;
  const uint32_t month = n3 >> 16;
  return {period * 400 + 100 * century + year_of_century + is_next_year, is_next_year ? month - 12 : month,
          (n3 & 0xFFFF) / 2'141 + 1};
}

inline char* put_two_digits(char* out, uint32_t value) {
  out[0] = static_cast<char>('0' + value / 10);
  out[1] = static_cast<char>('0' + value % 10);
  return out + 2;
}

/// Writes year, month and day; the caller writes the era.
inline char* put_civil(char* out, const Civil& civil) {
  const auto year = static_cast<uint64_t>(civil.year > 0 ? civil.year : 1 - civil.year);
  if (year < 10'000) {
    // Eight digits at once, then apart: yyyymmdd -> yyyy-mm-dd.
    const uint64_t digits =
        number_detail::eight_digits(static_cast<uint32_t>(year * 10'000 + civil.month * 100 + civil.day)) +
        number_detail::kZeros;
    std::memcpy(out, &digits, 4);
    const uint64_t rest = '-' | ((digits >> 32) & 0xFFFF) << 8 | uint64_t{'-'} << 24 | (digits >> 48) << 32;
    number_detail::put_word(out + 4, rest);
    return out + 10;
  }
  out = put_uint64(out, year);
  *out++ = '-';
  out = put_two_digits(out, civil.month);
  *out++ = '-';
  return put_two_digits(out, civil.day);
}

inline char* put_era(char* out, const Civil& civil) {
  std::memcpy(out, " BC", 3);
  return out + (civil.year > 0 ? 0 : 3);
}

constexpr int64_t floor_divide(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace datetime_detail

inline char* put_date(char* out, int64_t days) {
  const datetime_detail::Civil civil = datetime_detail::civil_from_days(days);
  return datetime_detail::put_era(datetime_detail::put_civil(out, civil), civil);
}

inline char* put_date_of_millis(char* out, int64_t millis) {
  return put_date(out, datetime_detail::floor_divide(millis, 86'400'000));
}

/// Writes at most `kDigits` digits of a second's fraction, without trailing zeros. `fraction` counts units of the last
/// digit.
template <int kDigits>
inline char* put_fraction(char* out, uint32_t fraction) {
  if (fraction == 0) return out;
  *out++ = '.';
  char digits[16];
  number_detail::put_sixteen_digits(digits, fraction);
  const char* first = digits + 16 - kDigits;
  int count = kDigits;
  while (first[count - 1] == '0') --count;
  std::memcpy(out, first, kDigits);
  return out + count;
}

/// Writes a time since 1970-01-01 in units of 10^-kDigits seconds. `separator` is between day and time; `zone` comes
/// last.
template <int kDigits>
inline char* put_timestamp(char* out, int64_t value, char separator, const char* zone, int64_t zone_size) {
  constexpr auto kUnits = static_cast<int64_t>(base::power_of_ten(kDigits));
  const int64_t days = datetime_detail::floor_divide(value, 86'400 * kUnits);
  const int64_t time = static_cast<int64_t>(static_cast<uint64_t>(value) -
                                            static_cast<uint64_t>(days) * static_cast<uint64_t>(86'400 * kUnits));
  const auto seconds = static_cast<uint32_t>(time / kUnits);
  const datetime_detail::Civil civil = datetime_detail::civil_from_days(days);
  out = datetime_detail::put_civil(out, civil);
  *out++ = separator;
  out = datetime_detail::put_two_digits(out, seconds / 3'600);
  *out++ = ':';
  out = datetime_detail::put_two_digits(out, seconds / 60 % 60);
  *out++ = ':';
  out = datetime_detail::put_two_digits(out, seconds % 60);
  if constexpr (kDigits > 0) out = put_fraction<kDigits>(out, static_cast<uint32_t>(time % kUnits));
  std::memcpy(out, zone, static_cast<size_t>(zone_size));
  return datetime_detail::put_era(out + zone_size, civil);
}

}  // namespace strom::format::csv
