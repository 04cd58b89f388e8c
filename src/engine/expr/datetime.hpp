// Dates and timestamps without time zone. Infinite values and results outside of PostgreSQL's range make fallback rows.
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

enum class DateField {
  kYear,
  kMonth,
  kDay,
  kQuarter,
  kDow,
  kIsodow,
  kDoy,
  kWeek,
  kIsoyear,
  kDecade,
  kCentury,
  kMillennium,
  kEpoch,
  kJulian,  // of dates
  kHour,
  kMinute,
  kSecond,
  kMilliseconds,
  kMicroseconds,  // of timestamps
};

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

/// Days since 2000-01-01 of a Gregorian date.
STROM_INLINE int64_t days_from_civil(int64_t year, int32_t month, int32_t day) {
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = (y >= 0 ? y : y - 399) / 400, year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 730425;
}

/// Monday is 1, Sunday 7.
STROM_INLINE int64_t iso_weekday(int64_t days) {
  const int64_t dow = (days + 5) % 7;  // 2000-01-01 was a Saturday
  return (dow < 0 ? dow + 7 : dow) + 1;
}

/// The number of the span of `length` years that a year is in. The first span begins with the year 1; years before it
/// count backwards.
STROM_INLINE int64_t year_span(int64_t year, int64_t length) {
  return year > 0 ? (year + length - 1) / length : -((length - 1 - (year - 1)) / length);
}

STROM_INLINE int64_t decade_of(int64_t year) { return year >= 0 ? year / 10 : -((8 - (year - 1)) / 10); }

template <DateField field>
STROM_INLINE int64_t date_field(int64_t days) {
  if constexpr (field == DateField::kIsodow) return iso_weekday(days);
  if constexpr (field == DateField::kDow) return iso_weekday(days) % 7;
  if constexpr (field == DateField::kEpoch) return (days + kUnixToPgDays) * 86400;
  if constexpr (field == DateField::kJulian) return days - kMinDate;
  constexpr bool kIsoWeek = field == DateField::kWeek || field == DateField::kIsoyear;
  // An ISO week belongs to the year of its Thursday.
  const CivilDate c = civil_from_days(kIsoWeek ? days - iso_weekday(days) + 4 : days);
  if constexpr (field == DateField::kWeek) return (c.day_of_year - 1) / 7 + 1;
  if constexpr (field == DateField::kYear || field == DateField::kIsoyear)
    return c.year > 0 ? c.year : c.year - 1;  // there is no year 0
  if constexpr (field == DateField::kDecade) return decade_of(c.year);
  if constexpr (field == DateField::kCentury) return year_span(c.year, 100);
  if constexpr (field == DateField::kMillennium) return year_span(c.year, 1000);
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
    else if constexpr (field >= DateField::kSecond)  // only the scale of the numeric differs
      out = static_cast<R>(in_day % 60000000ll);
    else
      out = static_cast<R>(date_field<field>(days));
    return !finite;
  }
};

inline constexpr int64_t kUnixEpoch = -kUnixToPgDays * kMicrosPerDay;

/// Microseconds since 1970, as a numeric with six digits after the point.
struct ExtractEpoch {
  STROM_INLINE static bool eval(const Context&, int128& out, int64_t time) {
    out = static_cast<int128>(time) - kUnixEpoch;
    return !is_finite_time(time) | (time >= INT64_MAX + kUnixEpoch);
  }
};

/// date_part: the fields as float8, with PostgreSQL's operations in its order.
template <DateField field>
struct PartTimestamp {
  STROM_INLINE static bool eval(const Context& context, double& out, int64_t time) {
    if constexpr (field == DateField::kEpoch) {
      const bool bad = !is_finite_time(time) | (time >= INT64_MAX + kUnixEpoch);
      out = static_cast<double>((bad ? 0 : time) - kUnixEpoch) / 1000000.0;
      return bad;
    }
    int64_t value;
    const bool bad = ExtractTimestamp<field>::eval(context, value, time);
    out = static_cast<double>(value);
    if constexpr (field == DateField::kSecond)
      out = static_cast<double>(value / 1000000) + static_cast<double>(value % 1000000) / 1000000.0;
    if constexpr (field == DateField::kMilliseconds)
      out = static_cast<double>(value / 1000000) * 1000.0 + static_cast<double>(value % 1000000) / 1000.0;
    return bad;
  }
};

/// date_trunc to units of a fixed length. Infinite values do not change.
template <int64_t kUnit>
struct TruncToUnit {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t time) {
    const int64_t rest = time % kUnit, below = rest < 0 ? rest + kUnit : rest;
    out = is_finite_time(time) ? time - below : time;
    return false;
  }
};

/// date_trunc to units of the calendar.
template <DateField field>
struct TruncToDate {
  STROM_INLINE static int64_t first_day(int64_t days) {
    if constexpr (field == DateField::kWeek) return days - iso_weekday(days) + 1;
    const CivilDate c = civil_from_days(days);
    const int64_t y = c.year;
    if constexpr (field == DateField::kMonth) return days_from_civil(y, c.month, 1);
    if constexpr (field == DateField::kQuarter) return days_from_civil(y, (c.month - 1) / 3 * 3 + 1, 1);
    if constexpr (field == DateField::kDecade) return days_from_civil(decade_of(y) * 10, 1, 1);
    constexpr int64_t kSpan = field == DateField::kCentury ? 100 : field == DateField::kMillennium ? 1000 : 1;
    if constexpr (kSpan > 1) return days_from_civil(year_span(y, kSpan) * kSpan + (y > 0 ? 1 - kSpan : 1), 1, 1);
    return days_from_civil(y, 1, 1);
  }
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t time) {
    const bool finite = is_finite_time(time);
    const int64_t truncated = first_day(floor_days(finite ? time : 0)) * kMicrosPerDay;
    out = finite ? truncated : time;
    return finite & (truncated < kMinTimestamp);
  }
};

/// Negative years are BC; there is no year 0.
struct MakeDate {
  STROM_INLINE static bool eval(const Context&, int32_t& out, int32_t year, int32_t month, int32_t day) {
    if (year == 0 || year < -4713 || year > 5874897 || month < 1 || month > 12 || day < 1 || day > 31) return true;
    const int64_t days = days_from_civil(year < 0 ? year + 1 : year, month, day);
    out = static_cast<int32_t>(days);
    return civil_from_days(days).day != day || days < kMinDate || days >= kEndDate;
  }
};

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
    out =
        static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(date)) * static_cast<uint64_t>(kMicrosPerDay));
    return !is_finite_date(date) | (out < kMinTimestamp) | (out >= kEndTimestamp) |
           (date > static_cast<int32_t>(kEndTimestamp / kMicrosPerDay));
  }
};

/// Makes dates comparable with timestamps. Dates after the last timestamp come before infinity.
STROM_INLINE int64_t comparable_time(int64_t time) { return time; }
STROM_INLINE int64_t comparable_time(int32_t date) {
  if (!is_finite_date(date)) return date == kDatePosInfinity ? kTimePosInfinity : kTimeNegInfinity;
  constexpr int32_t kEnd = static_cast<int32_t>(kEndTimestamp / kMicrosPerDay);
  return date >= kEnd ? kTimePosInfinity - 1 : static_cast<int64_t>(date) * kMicrosPerDay;
}

#define STROM_DEFINE_DATE_COMPARE(name, op)                                 \
  struct name##DateTime {                                                   \
    template <class A, class B>                                             \
    STROM_INLINE static bool eval(const Context&, uint8_t& out, A a, B b) { \
      out = comparable_time(a) op comparable_time(b);                       \
      return false;                                                         \
    }                                                                       \
  };
STROM_DEFINE_DATE_COMPARE(Eq, ==)
STROM_DEFINE_DATE_COMPARE(Ne, !=)
STROM_DEFINE_DATE_COMPARE(Lt, <)
STROM_DEFINE_DATE_COMPARE(Le, <=)
STROM_DEFINE_DATE_COMPARE(Gt, >)
STROM_DEFINE_DATE_COMPARE(Ge, >=)
#undef STROM_DEFINE_DATE_COMPARE

struct TimestampToTime {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t time) {
    const int64_t rest = time % kMicrosPerDay;
    out = rest < 0 ? rest + kMicrosPerDay : rest;
    return !is_finite_time(time);
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
