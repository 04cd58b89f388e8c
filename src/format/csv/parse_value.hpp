// Parses values from text: numbers, decimals, dates and times, exactly or not at all. Used by tsv2arrow, and by
// mysql2arrow for values that servers send as text.
#pragma once

#include <cstdint>
#include <string_view>

#include "columnar/schema.hpp"

namespace strom::format::csv {

enum class Parsed : uint8_t {
  kExact,
  kMalformed,   // not a value of this type
  kTooLarge,    // outside of the type's range, or more digits than it has
  kTooPrecise,  // more decimal places than the type has
};

/// A sign and digits, nothing else. `bits`: 8, 16, 32, 64.
Parsed parse_integer(std::string_view text, int bits, int64_t& value);
Parsed parse_unsigned(std::string_view text, int bits, uint64_t& value);

/// `-12.50`, `.5`, `1e3`: times 10^scale as a little-endian integer of `bits` (128 or 256) with at most `precision`
/// digits. Trailing zeros never make a value too precise.
Parsed parse_decimal(std::string_view text, int32_t precision, int32_t scale, int32_t bits, uint8_t* out);

/// The nearest number; also inf, infinity and nan, in any case, with a sign.
Parsed parse_real(std::string_view text, float& value);
Parsed parse_real(std::string_view text, double& value);

/// true, false, t, f, yes, no, y, n, on, off, 1, 0, in any case.
Parsed parse_bool(std::string_view text, bool& value);

/// Days since 1970-01-01; false for a day that does not exist.
bool days_of(int64_t year, uint32_t month, uint32_t day, int64_t& days);
/// YYYY-MM-DD; the year has four digits or more, and may have a sign.
Parsed parse_date(std::string_view text, int64_t& days);
/// HH:MM, HH:MM:SS, HH:MM:SS.F with up to nine decimal places, below 24 hours.
Parsed parse_time(std::string_view text, columnar::TimeUnit unit, int64_t& value);
/// A date, or a date and a time with a space or T in between. A zone may follow: Z, +HH, +HH:MM or +HHMM. With
/// `has_zone`, the value is converted to UTC, otherwise a zone is malformed. Without a zone, the time is in UTC.
Parsed parse_timestamp(std::string_view text, columnar::TimeUnit unit, bool has_zone, int64_t& value);

/// 1, 1000, 10^6 or 10^9.
int64_t units_per_second(columnar::TimeUnit unit);

}  // namespace strom::format::csv
