// Casts from text to numbers and dates. They know the spellings that all settings and versions of PostgreSQL read
// alike: plain decimal digits and ISO 8601. All other texts make fallback rows, because PostgreSQL may raise errors for
// them. Single source.
#pragma once

#include "engine/expr/cast.hpp"
#include "engine/expr/date_format.hpp"
#include "engine/expr/datetime.hpp"
#include "engine/expr/row_decimal.hpp"
#include "engine/expr/text_parts.hpp"

namespace strom::engine::expr {

STROM_INLINE bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads a text from left to right.
struct TextReader {
  StrView rest;

  STROM_INLINE bool at_end() const { return rest.len == 0; }
  STROM_INLINE bool sees_digit() const { return rest.len > 0 && is_digit(rest.ptr[0]); }
  STROM_INLINE bool take(char c) {
    if (rest.len == 0 || rest.ptr[0] != c) return false;
    rest = behind(rest, 1);
    return true;
  }
  STROM_INLINE void skip_blanks() {
    while (take(' ')) {
    }
  }
  /// Takes the sign, if there is one: true for '-'.
  STROM_INLINE bool take_sign() {
    const bool negative = take('-');
    if (!negative) take('+');
    return negative;
  }
  /// Appends all digits to *value and returns their count. `before`: digits that it already has; at most 18 altogether.
  STROM_INLINE int take_digits(int64_t* value, int before) {
    int digits = 0;
    while (sees_digit() && before + digits < 18) {
      *value = *value * 10 + (rest.ptr[0] - '0');
      rest = behind(rest, 1);
      ++digits;
    }
    return digits;
  }
  /// Takes exactly `digits` digits. False when they are not there.
  STROM_INLINE bool take_number(int digits, int32_t* value) {
    *value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!sees_digit()) return false;
      *value = *value * 10 + (rest.ptr[0] - '0');
      rest = behind(rest, 1);
    }
    return true;
  }
};

template <class Limit>
struct TextToInt {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, StrView s) {
    out = 0;
    TextReader reader{s};
    reader.skip_blanks();
    const bool negative = reader.take_sign();
    int64_t value = 0;
    if (reader.take_digits(&value, 0) == 0) return true;
    reader.skip_blanks();
    if (negative) value = -value;
    out = static_cast<R>(value);
    return !reader.at_end() || outside<Limit>(value);
  }
};

/// Digits with a point: correctly rounded when both the digits and the power of ten are exact doubles.
struct TextToFloat8 {
  STROM_INLINE static bool eval(const Context&, double& out, StrView s) {
    out = 0;
    TextReader reader{s};
    reader.skip_blanks();
    const bool negative = reader.take_sign();
    int64_t value = 0;
    const int whole = reader.take_digits(&value, 0);
    const int behind_point = reader.take('.') ? reader.take_digits(&value, whole) : 0;
    if (whole == 0 || whole + behind_point > 15) return true;
    reader.skip_blanks();
    const bool bad = decimal_to_double(value, behind_point, &out);
    if (negative) out = -out;
    return bad || !reader.at_end();
  }
};

/// YYYY-MM-DD of the years 1 to 9999.
STROM_INLINE bool take_date(TextReader& reader, int64_t* days) {
  int32_t year, month, day;
  if (!reader.take_number(4, &year) || !reader.take('-')) return false;
  if (!reader.take_number(2, &month) || !reader.take('-') || !reader.take_number(2, &day)) return false;
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  *days = days_from_civil(year, month, day);
  return civil_from_days(*days).day == day;
}

/// HH:MI:SS below 24:00:00. If `fraction`, up to six digits may follow a point.
STROM_INLINE bool take_time(TextReader& reader, bool fraction, int64_t* micros) {
  int32_t hour, minute, second;
  if (!reader.take_number(2, &hour) || !reader.take(':') || !reader.take_number(2, &minute) || !reader.take(':') ||
      !reader.take_number(2, &second))
    return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  *micros = ((static_cast<int64_t>(hour) * 60 + minute) * 60 + second) * 1000000;
  if (!fraction || !reader.take('.')) return true;
  int64_t unit = 100000;
  if (!reader.sees_digit()) return false;
  for (; unit > 0 && reader.sees_digit(); unit /= 10) {
    *micros += (reader.rest.ptr[0] - '0') * unit;
    reader.rest = behind(reader.rest, 1);
  }
  return true;
}

struct TextToDate {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView s) {
    out = 0;
    TextReader reader{s};
    int64_t days;
    if (!take_date(reader, &days) || !reader.at_end()) return true;
    out = static_cast<int32_t>(days);
    return false;
  }
};

/// A date, or a date and a time of day.
struct TextToTimestamp {
  STROM_INLINE static bool eval(const Context&, int64_t& out, StrView s) {
    out = 0;
    TextReader reader{s};
    int64_t days, micros = 0;
    if (!take_date(reader, &days)) return true;
    if (!reader.at_end() && (!reader.take(' ') || !take_time(reader, true, &micros) || !reader.at_end())) return true;
    out = days * kMicrosPerDay + micros;
    return false;
  }
};

struct TextToTime {
  STROM_INLINE static bool eval(const Context&, int64_t& out, StrView s) {
    out = 0;
    TextReader reader{s};
    return !take_time(reader, true, &out) || !reader.at_end();
  }
};

/// True for formats of a year and perhaps month, day and a time of day, each once and with a fixed number of digits.
STROM_INLINE bool is_parsed_format(StrView format, bool with_time) {
  unsigned seen = 0;
  while (format.len > 0) {
    const DateToken token = date_token(format);
    const DatePattern p = token.pattern;
    const bool of_day = p == DatePattern::kHour || p == DatePattern::kMinute || p == DatePattern::kSecond;
    const bool of_date = p == DatePattern::kYear || p == DatePattern::kMonth || p == DatePattern::kDay;
    if (p != DatePattern::kPunctuation) {
      if ((!of_date && !(of_day && with_time)) || (seen >> static_cast<int>(p) & 1)) return false;
      seen |= 1u << static_cast<int>(p);
    }
    format = behind(format, token.size);
  }
  const auto has = [seen](DatePattern p) { return (seen >> static_cast<int>(p) & 1) != 0; };
  return has(DatePattern::kYear) && (has(DatePattern::kMonth) || !has(DatePattern::kDay));
}

/// Reads a text with exactly the digits and the punctuation of such a format. False for any other text.
STROM_INLINE bool read_formatted(StrView s, StrView format, int64_t* days, int64_t* micros) {
  TextReader reader{s};
  int32_t year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0;
  while (format.len > 0) {
    const DateToken token = date_token(format);
    bool fine;
    switch (token.pattern) {
      case DatePattern::kYear: fine = reader.take_number(4, &year); break;
      case DatePattern::kMonth: fine = reader.take_number(2, &month); break;
      case DatePattern::kDay: fine = reader.take_number(2, &day); break;
      case DatePattern::kHour: fine = reader.take_number(2, &hour); break;
      case DatePattern::kMinute: fine = reader.take_number(2, &minute); break;
      case DatePattern::kSecond: fine = reader.take_number(2, &second); break;
      default: fine = reader.take(format.ptr[0]);
    }
    if (!fine) return false;
    format = behind(format, token.size);
  }
  if (!reader.at_end() || year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  if (hour > 23 || minute > 59 || second > 59) return false;
  *days = days_from_civil(year, month, day);
  *micros = ((static_cast<int64_t>(hour) * 60 + minute) * 60 + second) * 1000000;
  return civil_from_days(*days).day == day;
}

/// to_date() of texts that have the format.
struct FormattedDate {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView s, StrView format) {
    int64_t days = 0, micros = 0;
    out = 0;
    if (!is_parsed_format(format, false) || !read_formatted(s, format, &days, &micros)) return true;
    out = static_cast<int32_t>(days);
    return false;
  }
};

/// to_timestamp() of texts that have the format; in UTC.
struct FormattedTimestamp {
  STROM_INLINE static bool eval(const Context&, int64_t& out, StrView s, StrView format) {
    int64_t days = 0, micros = 0;
    out = 0;
    if (!is_parsed_format(format, true) || !read_formatted(s, format, &days, &micros)) return true;
    out = days * kMicrosPerDay + micros;
    return false;
  }
};

/// Digits with or without a point, and blanks around them. Other spellings of numerics make fallback rows.
struct TextToDecimal {
  STROM_INLINE static bool eval(const Context&, int128& out, StrView s) {
    out = 0;
    int64_t i = 0, end = s.len;
    while (i < end && s.ptr[i] == ' ') ++i;
    while (end > i && s.ptr[end - 1] == ' ') --end;
    const bool negative = i < end && s.ptr[i] == '-';
    if (i < end && (s.ptr[i] == '-' || s.ptr[i] == '+')) ++i;
    int128 value = 0;
    int digits = 0, scale = 0;
    bool point = false, any_digit = false;
    for (; i < end; ++i) {
      const char c = s.ptr[i];
      if (c == '.' && !point) {
        point = true;
        continue;
      }
      if (c < '0' || c > '9' || digits == 36) return true;
      value = value * 10 + (c - '0');
      digits += value != 0;
      scale += point;
      if (scale > base::kMaxDecimalScale) return true;
      any_digit = true;
    }
    return !any_digit || give_decimal(negative ? -value : value, scale, out);
  }
};

}  // namespace strom::engine::expr
