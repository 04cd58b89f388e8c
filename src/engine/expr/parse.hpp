// Casts from text to numbers and dates, of the spellings that all settings and versions of PostgreSQL read alike: plain
// decimal digits and ISO 8601. All others are PostgreSQL's, and so are its errors. Single source.
#pragma once

#include "engine/expr/cast.hpp"
#include "engine/expr/datetime.hpp"
#include "engine/expr/row_decimal.hpp"
#include "engine/expr/text_parts.hpp"

namespace strom::engine::expr {

STROM_INLINE bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A text from the left.
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
  /// The sign, if there is one: true for '-'.
  STROM_INLINE bool take_sign() {
    const bool negative = take('-');
    if (!negative) take('+');
    return negative;
  }
  /// Appends all digits to *value; how many, at most 18 with those that were there.
  STROM_INLINE int take_digits(int64_t* value, int before) {
    int digits = 0;
    while (sees_digit() && before + digits < 18) {
      *value = *value * 10 + (rest.ptr[0] - '0');
      rest = behind(rest, 1);
      ++digits;
    }
    return digits;
  }
  /// Exactly `digits` digits. False when there are others.
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

/// YYYY-MM-DD, or YYYYMMDD, of the years 1 to 9999.
STROM_INLINE bool take_date(TextReader& reader, bool dashes, int64_t* days) {
  int32_t year, month, day;
  if (!reader.take_number(4, &year) || (dashes && !reader.take('-'))) return false;
  if (!reader.take_number(2, &month) || (dashes && !reader.take('-')) || !reader.take_number(2, &day)) return false;
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  *days = days_from_civil(year, month, day);
  return civil_from_days(*days).day == day;
}

/// HH:MI:SS below 24:00:00, with up to six digits behind the point where `fraction` is true.
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

/// A date and nothing else. True when there is none.
STROM_INLINE bool read_date(StrView s, bool dashes, int32_t& out) {
  out = 0;
  TextReader reader{s};
  int64_t days;
  if (!take_date(reader, dashes, &days) || !reader.at_end()) return true;
  out = static_cast<int32_t>(days);
  return false;
}

struct TextToDate {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView s) {
    return read_date(s, true, out);
  }
};

/// A date, or a date and a time of day.
struct TextToTimestamp {
  STROM_INLINE static bool eval(const Context&, int64_t& out, StrView s) {
    out = 0;
    TextReader reader{s};
    int64_t days, micros = 0;
    if (!take_date(reader, true, &days)) return true;
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

STROM_INLINE bool is_text(StrView s, const char* word, int64_t length) {
  return s.len == length && compare_bytes(s.ptr, word, length) == 0;
}

/// to_date() of the formats YYYY-MM-DD and YYYYMMDD, of texts that look like them.
struct FormattedDate {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView s, StrView format) {
    out = 0;
    const bool dashes = is_text(format, "YYYY-MM-DD", 10);
    if (!dashes && !is_text(format, "YYYYMMDD", 8)) return true;
    return read_date(s, dashes, out);
  }
};

/// to_timestamp() of the formats YYYY-MM-DD and YYYY-MM-DD HH24:MI:SS, of texts that look like them; in UTC.
struct FormattedTimestamp {
  STROM_INLINE static bool eval(const Context& context, int64_t& out, StrView s, StrView format) {
    const bool with_time = is_text(format, "YYYY-MM-DD HH24:MI:SS", 21);
    out = 0;
    if (!with_time && !is_text(format, "YYYY-MM-DD", 10)) return true;
    if (s.len != (with_time ? 19 : 10)) return true;
    return TextToTimestamp::eval(context, out, s);
  }
};

/// Digits with or without a point, and blanks around: numeric's other spellings are PostgreSQL's.
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
