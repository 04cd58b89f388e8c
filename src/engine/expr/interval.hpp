// Intervals, and their sums with dates and timestamps. A register holds the bytes of PostgreSQL's Interval:
// microseconds, days, months. Single source.
#pragma once

#include "engine/expr/compare.hpp"
#include "engine/expr/datetime.hpp"

namespace strom::engine::expr {

struct Interval {
  int64_t micros;
  int32_t days, months;
};

STROM_INLINE Interval unpack(int128 bits) {
  const auto high = static_cast<uint64_t>(static_cast<uint128>(bits) >> 64);
  return {static_cast<int64_t>(bits), static_cast<int32_t>(static_cast<uint32_t>(high)),
          static_cast<int32_t>(static_cast<uint32_t>(high >> 32))};
}

STROM_INLINE int128 pack(Interval v) {
  const uint64_t high = static_cast<uint64_t>(static_cast<uint32_t>(v.months)) << 32 | static_cast<uint32_t>(v.days);
  return static_cast<int128>(static_cast<uint128>(high) << 64 | static_cast<uint64_t>(v.micros));
}

/// The number that intervals are compared by: a month has 30 days, a day 24 hours.
STROM_INLINE int128 span_of(int128 bits) {
  const Interval v = unpack(bits);
  return static_cast<int128>(static_cast<int64_t>(v.months) * 30 + v.days) * kMicrosPerDay + v.micros;
}

template <class Compare>
struct CompareInterval {
  STROM_INLINE static bool eval(const Context& context, uint8_t& out, int128 a, int128 b) {
    return Compare::eval(context, out, span_of(a), span_of(b));
  }
};
using EqInterval = CompareInterval<Eq>;
using NeInterval = CompareInterval<Ne>;
using LtInterval = CompareInterval<Lt>;
using LeInterval = CompareInterval<Le>;
using GtInterval = CompareInterval<Gt>;
using GeInterval = CompareInterval<Ge>;

/// Infinite intervals of PostgreSQL 17. In earlier versions these values are practically unused.
STROM_INLINE bool is_infinite_interval(Interval v) {
  const bool highest = v.micros == INT64_MAX && v.days == INT32_MAX && v.months == INT32_MAX;
  return highest || (v.micros == INT64_MIN && v.days == INT32_MIN && v.months == INT32_MIN);
}

template <class T>
STROM_INLINE bool fits(int128 value) {
  return value == static_cast<int128>(static_cast<T>(value));
}

/// Adds field by field. Overflow of a field is an error in PostgreSQL.
STROM_INLINE bool add_intervals(int128& out, Interval a, Interval b, int sign) {
  const int128 micros = static_cast<int128>(a.micros) + static_cast<int128>(b.micros) * sign;
  const int64_t days = a.days + static_cast<int64_t>(b.days) * sign,
                months = a.months + static_cast<int64_t>(b.months) * sign;
  out = pack({static_cast<int64_t>(micros), static_cast<int32_t>(days), static_cast<int32_t>(months)});
  return !fits<int64_t>(micros) || !fits<int32_t>(days) || !fits<int32_t>(months) || is_infinite_interval(a) ||
         is_infinite_interval(b);
}

struct IntervalPlus {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) {
    return add_intervals(out, unpack(a), unpack(b), 1);
  }
};
struct IntervalMinus {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) {
    return add_intervals(out, unpack(a), unpack(b), -1);
  }
};
struct IntervalNegative {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a) {
    return add_intervals(out, {0, 0, 0}, unpack(a), -1);
  }
};

STROM_INLINE bool is_timestamp(int128 time) { return time >= kMinTimestamp && time < kEndTimestamp; }

/// Adds the months first, to the last day of a shorter month; then the days, then the time. Every step must be in
/// range.
STROM_INLINE bool add_to_timestamp(int64_t& out, int64_t time, Interval v, int sign) {
  out = time;
  if (is_infinite_interval(v)) return true;
  if (!is_finite_time(time)) return false;
  int64_t days = floor_days(time);
  const int64_t in_day = time - days * kMicrosPerDay;
  if (v.months != 0) {
    const CivilDate c = civil_from_days(days);
    const int64_t month = static_cast<int64_t>(c.year) * 12 + c.month - 1 + static_cast<int64_t>(v.months) * sign;
    const int64_t year = month >= 0 ? month / 12 : -((11 - month) / 12);
    const int32_t in_year = static_cast<int32_t>(month - year * 12) + 1;
    const int64_t first = days_from_civil(year, in_year, 1);
    const int64_t last =
        in_year == 12 ? days_from_civil(year + 1, 1, 1) - 1 : days_from_civil(year, in_year + 1, 1) - 1;
    days = first + c.day - 1 < last ? first + c.day - 1 : last;
    if (!is_timestamp(static_cast<int128>(days) * kMicrosPerDay + in_day)) return true;
  }
  days += static_cast<int64_t>(v.days) * sign;
  const int128 moved = static_cast<int128>(days) * kMicrosPerDay + in_day;
  const int128 sum = moved + static_cast<int128>(v.micros) * sign;
  out = static_cast<int64_t>(sum);
  return !is_timestamp(moved) || !is_timestamp(sum);
}

template <int kSign>
struct TimestampInterval {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t time, int128 interval) {
    return add_to_timestamp(out, time, unpack(interval), kSign);
  }
};

template <int kSign>
struct DateInterval {
  STROM_INLINE static bool eval(const Context& context, int64_t& out, int32_t date, int128 interval) {
    int64_t time;
    if (DateToTimestamp::eval(context, time, date)) return true;
    return add_to_timestamp(out, time, unpack(interval), kSign);
  }
};

/// The difference in days and the rest of a day.
struct TimestampMinusTimestamp {
  STROM_INLINE static bool eval(const Context&, int128& out, int64_t a, int64_t b) {
    const int128 wide = static_cast<int128>(a) - b;
    const int64_t micros = static_cast<int64_t>(wide);
    out = pack({micros % kMicrosPerDay, static_cast<int32_t>(micros / kMicrosPerDay), 0});
    return !is_finite_time(a) || !is_finite_time(b) || !fits<int64_t>(wide);
  }
};

}  // namespace strom::engine::expr
