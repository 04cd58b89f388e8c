// Dates and timestamps without time zone. Infinite values and results outside PostgreSQL's range are PostgreSQL's.
// Calendar arithmetic: the days-from-civil algorithm over the proleptic Gregorian calendar, as PostgreSQL's j2date.
#pragma once

#include "engine/expr/element.hpp"

namespace strom::engine::expr {

inline constexpr int32_t kDateNegInfinity = INT32_MIN, kDatePosInfinity = INT32_MAX;
inline constexpr int64_t kTimeNegInfinity = INT64_MIN, kTimePosInfinity = INT64_MAX;
inline constexpr int64_t kMicrosPerDay = 86400000000ll;
inline constexpr int32_t kUnixToPgDays = 10957;  // 2000-01-01 minus 1970-01-01
// PostgreSQL's DATETIME_MIN_JULIAN .. DATE_END_JULIAN and TIMESTAMP_END_JULIAN relative to 2000-01-01
inline constexpr int32_t kMinDate = -2451545, kEndDate = 2147483494 - 2451545;
inline constexpr int64_t kMinTimestamp = -211813488000000000ll, kEndTimestamp = 9223371331200000000ll;

enum class DateField { kYear, kMonth, kDay, kQuarter, kDow, kIsodow, kDoy, kHour, kMinute };

STROM_INLINE bool is_finite_date(int32_t date) { return date != kDateNegInfinity && date != kDatePosInfinity; }
STROM_INLINE bool is_finite_time(int64_t time) { return time != kTimeNegInfinity && time != kTimePosInfinity; }

struct CivilDate {
  int32_t year, month, day, day_of_year;  // astronomical year: 1 BC is 0
};

/// Gregorian date of `days` since 2000-01-01.
STROM_INLINE CivilDate civil_from_days(int64_t days) {
  const int64_t z = days + 730425;  // since 0000-03-01
  const int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  const int32_t day_of_era = static_cast<int32_t>(z - era * 146097);
  const int32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int32_t day_from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int32_t shifted_month = (5 * day_from_march + 2) / 153;
  CivilDate c;
  c.day = day_from_march - (153 * shifted_month + 2) / 5 + 1;
  c.month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  c.year = static_cast<int32_t>(year_of_era + era * 400) + (c.month <= 2);
  const bool leap = c.year % 4 == 0 && (c.year % 100 != 0 || c.year % 400 == 0);
  c.day_of_year = c.month > 2 ? day_from_march + 60 + leap : day_from_march - 305;
  return c;
}

template <DateField field>
STROM_INLINE int64_t date_field(int64_t days) {
  if constexpr (field == DateField::kDow || field == DateField::kIsodow) {
    int64_t dow = (days + 6) % 7;  // 2000-01-01 was a Saturday
    if (dow < 0) dow += 7;
    return field == DateField::kIsodow && dow == 0 ? 7 : dow;
  }
  const CivilDate c = civil_from_days(days);
  if constexpr (field == DateField::kYear) return c.year > 0 ? c.year : c.year - 1;  // there is no year 0
  if constexpr (field == DateField::kMonth) return c.month;
  if constexpr (field == DateField::kQuarter) return (c.month - 1) / 3 + 1;
  if constexpr (field == DateField::kDoy) return c.day_of_year;
  return c.day;
}

template <DateField field>
struct ExtractDate {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, int32_t date) {
    const bool finite = is_finite_date(date);
    out = static_cast<R>(date_field<field>(finite ? date : 0));
    return !finite;
  }
};

STROM_INLINE int64_t floor_days(int64_t time) {
  int64_t days = time / kMicrosPerDay;
  if (time % kMicrosPerDay < 0) --days;
  return days;
}

template <DateField field>
struct ExtractTimestamp {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, int64_t time) {
    const bool finite = is_finite_time(time);
    const int64_t usable = finite ? time : 0;
    const int64_t days = floor_days(usable);
    const int64_t in_day = usable - days * kMicrosPerDay;
    if constexpr (field == DateField::kHour)
      out = static_cast<R>(in_day / 3600000000ll);
    else if constexpr (field == DateField::kMinute)
      out = static_cast<R>(in_day / 60000000ll % 60);
    else
      out = static_cast<R>(date_field<field>(days));
    return !finite;
  }
};

template <DateField field>
using PartTimestamp = ExtractTimestamp<field>;

struct DatePlusDays {
  STROM_INLINE static bool eval(const Context&, int32_t& out, int32_t date, int32_t days) {
    const int64_t sum = static_cast<int64_t>(date) + days;
    out = static_cast<int32_t>(sum);
    return !is_finite_date(date) | (sum < kMinDate) | (sum >= kEndDate);
  }
};

struct DateMinusDays {
  STROM_INLINE static bool eval(const Context&, int32_t& out, int32_t date, int32_t days) {
    const int64_t difference = static_cast<int64_t>(date) - days;
    out = static_cast<int32_t>(difference);
    return !is_finite_date(date) | (difference < kMinDate) | (difference >= kEndDate);
  }
};

struct DateMinusDate {
  STROM_INLINE static bool eval(const Context&, int32_t& out, int32_t a, int32_t b) {
    out = static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
    return !is_finite_date(a) | !is_finite_date(b);
  }
};

struct DateToTimestamp {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int32_t date) {
    out = static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(date)) * static_cast<uint64_t>(kMicrosPerDay));
    return !is_finite_date(date) | (out < kMinTimestamp) | (out >= kEndTimestamp) |
           (date > static_cast<int32_t>(kEndTimestamp / kMicrosPerDay));
  }
};

struct TimestampToDate {
  STROM_INLINE static bool eval(const Context&, int32_t& out, int64_t time) {
    const bool finite = is_finite_time(time);
    out = static_cast<int32_t>(floor_days(finite ? time : 0));
    return !finite;
  }
};

}  // namespace strom::engine::expr
