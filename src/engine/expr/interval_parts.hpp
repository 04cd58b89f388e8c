// Functions of intervals and times of day: fields, justification, ages, bins. A timetz register holds the bytes of
// PostgreSQL's TimeTzADT: microseconds of the local day, then seconds west of Greenwich. Single source.
#pragma once

#include <math.h>

#include "engine/expr/interval.hpp"

namespace strom::engine::expr {

inline constexpr int64_t kMicrosPerHour = 3600000000ll, kMicrosPerMinute = 60000000ll;

/// A field of a time of day, or of an interval's time, which can be negative or longer than a day. Seconds and their
/// fractions are in microseconds, because only the scale of the numeric differs.
template <DateField field>
STROM_INLINE int64_t time_field(int64_t micros) {
  if constexpr (field == DateField::kHour) return micros / kMicrosPerHour;
  if constexpr (field == DateField::kMinute) return micros / kMicrosPerMinute % 60;
  return micros % kMicrosPerMinute;
}

template <DateField field>
STROM_INLINE int64_t interval_field(Interval v) {
  if constexpr (field == DateField::kYear) return v.months / 12;
  if constexpr (field == DateField::kMonth) return v.months % 12;
  if constexpr (field == DateField::kQuarter) return v.months % 12 / 3 + 1;
  if constexpr (field == DateField::kDecade) return v.months / 120;
  if constexpr (field == DateField::kCentury) return v.months / 1200;
  if constexpr (field == DateField::kMillennium) return v.months / 12000;
  if constexpr (field == DateField::kDay) return v.days;
  return time_field<field>(v.micros);
}

/// Quarters of negative intervals make fallback rows: versions of PostgreSQL differ.
template <DateField field>
STROM_INLINE bool is_odd_interval(Interval v) {
  return is_infinite_interval(v) || (field == DateField::kQuarter && v.months < 0);
}

template <DateField field>
struct ExtractInterval {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 interval) {
    const Interval v = unpack(interval);
    out = interval_field<field>(v);
    return is_odd_interval<field>(v);
  }
};

/// Microseconds: a year has 365.25 days, a month 30.
struct ExtractEpochInterval {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 interval) {
    const Interval v = unpack(interval);
    const int64_t quarter_days = static_cast<int64_t>(v.months / 12) * 1461 +
                                 static_cast<int64_t>(v.months % 12) * 120 + static_cast<int64_t>(v.days) * 4;
    out = static_cast<int128>(quarter_days) * (kMicrosPerDay / 4) + v.micros;
    return is_infinite_interval(v);
  }
};

/// Seconds, milliseconds or microseconds as float8, with PostgreSQL's operations in its order.
template <DateField field>
STROM_INLINE double part_of_seconds(int64_t micros) {
  const auto whole = static_cast<double>(micros / 1000000), rest = static_cast<double>(micros % 1000000);
  if constexpr (field == DateField::kSecond) return whole + rest / 1000000.0;
  if constexpr (field == DateField::kMilliseconds) return whole * 1000.0 + rest / 1000.0;
  return static_cast<double>(micros);
}

template <DateField field>
struct PartInterval {
  STROM_INLINE static bool eval(const Context&, double& out, int128 interval) {
    const Interval v = unpack(interval);
    const int64_t value = interval_field<field>(v);
    out = field >= DateField::kSecond ? part_of_seconds<field>(value) : static_cast<double>(value);
    return is_odd_interval<field>(v);
  }
};

struct PartEpochInterval {
  STROM_INLINE static bool eval(const Context&, double& out, int128 interval) {
    const Interval v = unpack(interval);
    out = static_cast<double>(v.micros) / 1000000.0;
    out += 31557600.0 * (v.months / 12);
    out += 2592000.0 * (v.months % 12);
    out += 86400.0 * v.days;
    return is_infinite_interval(v);
  }
};

template <DateField field>
struct ExtractTime {
  STROM_INLINE static bool eval(const Context&, int128& out, int64_t time) {
    out = field == DateField::kEpoch ? time : time_field<field>(time);
    return false;
  }
};

template <DateField field>
struct PartTime {
  STROM_INLINE static bool eval(const Context&, double& out, int64_t time) {
    if constexpr (field == DateField::kEpoch) {
      out = static_cast<double>(time) / 1000000.0;
      return false;
    }
    const int64_t value = time_field<field>(time);
    out = field >= DateField::kSecond ? part_of_seconds<field>(value) : static_cast<double>(value);
    return false;
  }
};

struct TimeTz {
  int64_t micros;
  int32_t zone;
};

STROM_INLINE TimeTz unpack_timetz(int128 bits) {
  return {static_cast<int64_t>(bits), static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint128>(bits) >> 64))};
}

STROM_INLINE int128 pack_timetz(TimeTz v) {
  return static_cast<int128>(static_cast<uint128>(static_cast<uint32_t>(v.zone)) << 64 |
                             static_cast<uint64_t>(v.micros));
}

/// Order of timetz: by the moment, then by the zone.
STROM_INLINE int128 timetz_order(int128 bits) {
  const TimeTz v = unpack_timetz(bits);
  return static_cast<int128>(v.micros + static_cast<int64_t>(v.zone) * 1000000) * (static_cast<int64_t>(1) << 32) +
         v.zone;
}

using EqTimeTz = Eq;
using NeTimeTz = Ne;
using LtTimeTz = CompareBy<timetz_order, Lt>;
using LeTimeTz = CompareBy<timetz_order, Le>;
using GtTimeTz = CompareBy<timetz_order, Gt>;
using GeTimeTz = CompareBy<timetz_order, Ge>;

template <DateField field>
struct ExtractTimeTz {
  STROM_INLINE static bool eval(const Context& context, int128& out, int128 bits) {
    const TimeTz v = unpack_timetz(bits);
    if constexpr (field == DateField::kEpoch) {
      out = static_cast<int128>(v.micros) + static_cast<int64_t>(v.zone) * 1000000;
      return false;
    }
    return ExtractTime<field>::eval(context, out, v.micros);
  }
};

struct TimeTzToTime {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int128 bits) {
    out = unpack_timetz(bits).micros;
    return false;
  }
};

/// The time of day of `micros`, counted from any midnight.
STROM_INLINE int64_t wrap_day(int64_t micros) {
  const int64_t rest = micros % kMicrosPerDay;
  return rest < 0 ? rest + kMicrosPerDay : rest;
}

STROM_INLINE bool shift_time(int64_t& out, int64_t time, int128 interval, int sign) {
  const Interval v = unpack(interval);
  const int128 sum = static_cast<int128>(time) + static_cast<int128>(v.micros) * sign;
  out = wrap_day(static_cast<int64_t>(sum));
  return !fits<int64_t>(sum) || is_infinite_interval(v);
}

template <int kSign>
struct TimeInterval {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t time, int128 interval) {
    return shift_time(out, time, interval, kSign);
  }
};

template <int kSign>
struct TimeTzInterval {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 time, int128 interval) {
    TimeTz v = unpack_timetz(time);
    const bool bad = shift_time(v.micros, v.micros, interval, kSign);
    out = pack_timetz(v);
    return bad;
  }
};

struct TimeMinusTime {
  STROM_INLINE static bool eval(const Context&, int128& out, int64_t a, int64_t b) {
    out = pack({a - b, 0, 0});
    return false;
  }
};

struct TimeToInterval {
  STROM_INLINE static bool eval(const Context&, int128& out, int64_t time) {
    out = pack({time, 0, 0});
    return false;
  }
};

struct IntervalToTime {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int128 interval) {
    const Interval v = unpack(interval);
    out = wrap_day(v.micros);
    return v.micros < INT64_MIN + kMicrosPerDay || is_infinite_interval(v);
  }
};

struct DatePlusTime {
  STROM_INLINE static bool eval(const Context& context, int64_t& out, int32_t date, int64_t time) {
    if (DateToTimestamp::eval(context, out, date)) return true;
    const int128 sum = static_cast<int128>(out) + time;
    out = static_cast<int64_t>(sum);
    return !is_timestamp(sum);
  }
};

/// Seconds that PostgreSQL rounds up to a full minute, or to 24:00:00, make fallback rows.
struct MakeTime {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int32_t hour, int32_t minute, double second) {
    out = 0;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || !(second >= 0) || !(second < 59.9)) return true;
    out =
        (static_cast<int64_t>(hour) * 60 + minute) * kMicrosPerMinute + static_cast<int64_t>(rint(second * 1000000.0));
    return false;
  }
};

/// An interval times or divided by a number, by PostgreSQL's floating-point operations in its order: fractions of
/// months go to days, fractions of days to the time. Not on devices, which fuse products and sums.
template <bool kDivides>
struct ScaleInterval {
  STROM_INLINE static double round_micros(double value) { return rint(value * 1000000.0) / 1000000.0; }

  STROM_INLINE static bool eval(const Context&, int128& out, int128 interval, double factor) {
    constexpr double kMost = 2147480000.0, kMostMicros = 9.2e18, kDaysPerMonth = 30.0, kSecondsPerDay = 86400.0;
    out = 0;
    if constexpr (!platform::kHostMath) return true;
    const Interval v = unpack(interval);
    if (is_infinite_interval(v) || (kDivides && factor == 0)) return true;
    const auto scaled = [factor](double part) { return kDivides ? part / factor : part * factor; };
    const double months = scaled(v.months), days = scaled(v.days);
    if (!(fabs(months) < kMost) || !(fabs(days) < kMost)) return true;
    const auto whole_months = static_cast<int32_t>(months);
    auto whole_days = static_cast<int32_t>(days);
    const double days_of_month = round_micros((months - whole_months) * kDaysPerMonth);
    double seconds =
        round_micros((days - whole_days + days_of_month - static_cast<int32_t>(days_of_month)) * kSecondsPerDay);
    if (fabs(seconds) >= kSecondsPerDay) {
      const auto carried = static_cast<int32_t>(seconds / kSecondsPerDay);
      whole_days += carried;
      seconds -= carried * kSecondsPerDay;
    }
    whole_days += static_cast<int32_t>(days_of_month);
    const double micros = rint(scaled(static_cast<double>(v.micros)) + seconds * 1000000.0);
    if (!(fabs(micros) < kMostMicros)) return true;
    out = pack({static_cast<int64_t>(micros), whole_days, whole_months});
    return false;
  }
};

struct MulInterval {
  STROM_INLINE static bool eval(const Context& context, int128& out, double a, int128 b) {
    return ScaleInterval<false>::eval(context, out, b, a);
  }
};

/// For make_interval(): hours, minutes and seconds.
struct MicrosOfTime {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int32_t hours, int32_t minutes, double seconds) {
    constexpr double kMost = 9e12;
    out = 0;
    if (!(fabs(seconds) < kMost)) return true;
    out = (static_cast<int64_t>(hours) * 60 + minutes) * kMicrosPerMinute +
          static_cast<int64_t>(rint(seconds * 1000000.0));
    return false;
  }
};

struct IntervalOfParts {
  STROM_INLINE static bool eval(const Context&, int128& out, int32_t months, int32_t days, int64_t micros) {
    out = pack({micros, days, months});
    return false;
  }
};

/// An interval that is being justified. Results beyond 32 bits make fallback rows.
struct WideInterval {
  int64_t micros, days, months;
};

STROM_INLINE void carry_days(WideInterval& v) {
  v.days += v.micros / kMicrosPerDay;
  v.micros %= kMicrosPerDay;
}

STROM_INLINE void carry_months(WideInterval& v) {
  v.months += v.days / 30;
  v.days %= 30;
}

/// Trades a day for time if the time has the other sign.
STROM_INLINE void level_time(WideInterval& v) {
  if (v.days > 0 && v.micros < 0) {
    v.micros += kMicrosPerDay;
    --v.days;
  } else if (v.days < 0 && v.micros > 0) {
    v.micros -= kMicrosPerDay;
    ++v.days;
  }
}

template <bool kHours, bool kDays>
struct JustifyInterval {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 interval) {
    const Interval given = unpack(interval);
    WideInterval v{given.micros, given.days, given.months};
    if (kHours) carry_days(v);
    if (kDays) {
      carry_months(v);
      const bool negative = v.days < 0 || (kHours && v.days == 0 && v.micros < 0);
      const bool positive = v.days > 0 || (kHours && v.days == 0 && v.micros > 0);
      if (v.months > 0 && negative) {
        v.days += 30;
        --v.months;
      } else if (v.months < 0 && positive) {
        v.days -= 30;
        ++v.months;
      }
    }
    if (kHours) level_time(v);
    out = pack({v.micros, static_cast<int32_t>(v.days), static_cast<int32_t>(v.months)});
    return v.days != static_cast<int32_t>(v.days) || v.months != static_cast<int32_t>(v.months) ||
           is_infinite_interval(given);
  }
};
using JustifyHours = JustifyInterval<true, false>;
using JustifyDays = JustifyInterval<false, true>;
using JustifyBoth = JustifyInterval<true, true>;

STROM_INLINE int32_t days_of_month(int64_t year, int32_t month) {
  const int64_t next = month == 12 ? days_from_civil(year + 1, 1, 1) : days_from_civil(year, month + 1, 1);
  return static_cast<int32_t>(next - days_from_civil(year, month, 1));
}

/// age(): years, months and days between two moments. Borrowed days are those of the earlier moment's month.
struct AgeTimestamp {
  STROM_INLINE static bool eval(const Context&, int128& out, int64_t a, int64_t b) {
    out = 0;
    if (!is_finite_time(a) || !is_finite_time(b)) return true;
    const bool negative = a < b;
    const int64_t later = negative ? b : a, earlier = negative ? a : b;
    const int64_t later_day = floor_days(later), earlier_day = floor_days(earlier);
    const CivilDate to = civil_from_days(later_day), from = civil_from_days(earlier_day);
    int64_t micros = (later - later_day * kMicrosPerDay) - (earlier - earlier_day * kMicrosPerDay);
    int64_t days = to.day - from.day;
    int64_t months = (static_cast<int64_t>(to.year) - from.year) * 12 + to.month - from.month;
    if (micros < 0) {
      micros += kMicrosPerDay;
      --days;
    }
    while (days < 0) {
      days += days_of_month(from.year, from.month);
      --months;
    }
    const int sign = negative ? -1 : 1;
    out = pack({sign * micros, static_cast<int32_t>(sign * days), static_cast<int32_t>(sign * months)});
    return false;
  }
};

/// date_bin(). Moments before the origin that lie on a border make fallback rows: versions of PostgreSQL differ.
struct DateBin {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int128 interval, int64_t time, int64_t origin) {
    out = 0;
    const Interval v = unpack(interval);
    const int128 stride = static_cast<int128>(v.days) * kMicrosPerDay + v.micros;
    if (!is_finite_time(time) || !is_finite_time(origin) || v.months != 0 || stride <= 0 || !fits<int64_t>(stride))
      return true;
    const int128 distance = static_cast<int128>(time) - origin;
    if (!fits<int64_t>(distance)) return true;
    const int64_t rest = static_cast<int64_t>(distance) % static_cast<int64_t>(stride);
    if (distance < 0 && rest == 0) return true;
    const int128 begin = static_cast<int128>(time) - rest - (rest < 0 ? stride : 0);
    out = static_cast<int64_t>(begin);
    return !is_timestamp(begin);
  }
};

struct IsFiniteDate {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, int32_t date) {
    out = is_finite_date(date);
    return false;
  }
};
struct IsFiniteTime {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, int64_t time) {
    out = is_finite_time(time);
    return false;
  }
};
struct IsFiniteInterval {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, int128 interval) {
    out = 1;
    return is_infinite_interval(unpack(interval));
  }
};

/// to_timestamp(float8): seconds since 1970.
struct EpochToTimestamp {
  STROM_INLINE static bool eval(const Context&, int64_t& out, double seconds) {
    out = 0;
    if (!(fabs(seconds) < 9e12)) return true;
    const double micros = rint((seconds - static_cast<double>(kUnixToPgDays) * 86400.0) * 1000000.0);
    if (!(micros > -9e18 && micros < 9e18)) return true;
    out = static_cast<int64_t>(micros);
    return !is_timestamp(out);
  }
};

}  // namespace strom::engine::expr
