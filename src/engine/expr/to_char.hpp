// to_char of timestamps, for formats of the patterns of date_format.hpp. The planner takes no other format to the
// engine.
#pragma once

#include "engine/expr/date_format.hpp"
#include "engine/expr/datetime.hpp"
#include "engine/expr/text_make.hpp"

namespace strom::engine::expr {

/// Bytes of a date in the format, or -1 when the format has other patterns.
STROM_INLINE int64_t formatted_bytes(StrView format) {
  int64_t bytes = 0;
  while (format.len > 0) {
    const DateToken token = date_token(format);
    if (token.pattern == DatePattern::kNone) return -1;
    bytes += token.width;
    format = behind(format, token.size);
  }
  return bytes;
}

STROM_INLINE char* put_digits(char* to, int64_t value, int digits) {
  for (int i = digits; i-- > 0; value /= 10) to[i] = static_cast<char>('0' + value % 10);
  return to + digits;
}

/// Writes the first letters of a name, which is given as in "January".
STROM_INLINE char* put_name(char* to, const char* name, DateToken token) {
  for (int i = 0; i < token.width; ++i) {
    const char c = name[i];
    const bool letter = c != ' ', capital = c >= 'A' && c <= 'Z';
    *to++ = !letter || token.letters == LetterCase::kTitle    ? c
            : token.letters == LetterCase::kUpper && !capital ? static_cast<char>(c - 0x20)
            : token.letters == LetterCase::kLower && capital  ? static_cast<char>(c + 0x20)
                                                              : c;
  }
  return to;
}

/// The parts of a moment.
struct FormattedMoment {
  CivilDate date;
  int64_t days, seconds, micros;  // of the day, of the second
};

STROM_INLINE char* put_token(char* to, const FormattedMoment& m, DateToken token, const char* format) {
  constexpr int kNameWidth = 9;
  const char* months =
      "January  February March    April    May      June     July     August   SeptemberOctober  November December ";
  const char* days = "Sunday   Monday   Tuesday  WednesdayThursday Friday   Saturday ";
  const int64_t hour = m.seconds / 3600, weekday = date_field<DateField::kDow>(m.days);
  switch (token.pattern) {
    case DatePattern::kYear: return put_digits(to, m.date.year, 4);
    case DatePattern::kShortYear: return put_digits(to, m.date.year % 100, 2);
    case DatePattern::kIsoYear: return put_digits(to, date_field<DateField::kIsoyear>(m.days), 4);
    case DatePattern::kMonth: return put_digits(to, m.date.month, 2);
    case DatePattern::kMonthName:
    case DatePattern::kWholeMonth: return put_name(to, months + (m.date.month - 1) * kNameWidth, token);
    case DatePattern::kDay: return put_digits(to, m.date.day, 2);
    case DatePattern::kDayOfYear: return put_digits(to, m.date.day_of_year, 3);
    case DatePattern::kWeekday: return put_digits(to, weekday + 1, 1);
    case DatePattern::kIsoWeekday: return put_digits(to, weekday == 0 ? 7 : weekday, 1);
    case DatePattern::kDayName:
    case DatePattern::kWholeDay: return put_name(to, days + weekday * kNameWidth, token);
    case DatePattern::kQuarter: return put_digits(to, (m.date.month - 1) / 3 + 1, 1);
    case DatePattern::kWeek: return put_digits(to, (m.date.day_of_year - 1) / 7 + 1, 2);
    case DatePattern::kIsoWeek: return put_digits(to, date_field<DateField::kWeek>(m.days), 2);
    case DatePattern::kWeekOfMonth: return put_digits(to, (m.date.day - 1) / 7 + 1, 1);
    case DatePattern::kHour: return put_digits(to, hour, 2);
    case DatePattern::kHour12: return put_digits(to, hour % 12 == 0 ? 12 : hour % 12, 2);
    case DatePattern::kHalfOfDay: return put_name(to, hour < 12 ? "AM" : "PM", token);
    case DatePattern::kMinute: return put_digits(to, m.seconds / 60 % 60, 2);
    case DatePattern::kSecond: return put_digits(to, m.seconds % 60, 2);
    case DatePattern::kMillis: return put_digits(to, m.micros / 1000, 3);
    case DatePattern::kMicros: return put_digits(to, m.micros, 6);
    case DatePattern::kQuoted: return put(to, {format + 1, token.width});
    default: return put(to, {format, 1});
  }
}

/// Years before 1 and after 9999 make fallback rows, and so do infinite timestamps.
struct TimestampToChar {
  STROM_INLINE static bool eval(const Context& context, StrView& out, int64_t time, StrView format) {
    const int64_t bytes = formatted_bytes(format);
    if (!is_finite_time(time) || bytes <= 0) return true;
    const int64_t days = floor_days(time), of_day = time - days * kMicrosPerDay;
    const FormattedMoment moment{civil_from_days(days), days, of_day / 1000000, of_day % 1000000};
    const int64_t iso_year = date_field<DateField::kIsoyear>(days);
    if (moment.date.year < 1 || moment.date.year > 9999 || iso_year < 1 || iso_year > 9999) return true;
    char* to = context.make_text(bytes);
    if (to == nullptr) return true;
    out = {to, bytes};
    while (format.len > 0) {
      const DateToken token = date_token(format);
      to = put_token(to, moment, token, format.ptr);
      format = behind(format, token.size);
    }
    return false;
  }
};

}  // namespace strom::engine::expr
