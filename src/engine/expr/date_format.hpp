// Formats of to_char, to_date and to_timestamp: their patterns, as far as the engine knows them. Single source.
#pragma once

#include "engine/expr/text.hpp"

namespace strom::engine::expr {

enum class DatePattern : uint8_t {
  kNone,
  kYear,
  kShortYear,
  kIsoYear,
  kMonth,
  kMonthName,
  kWholeMonth,
  kDay,
  kDayOfYear,
  kWeekday,
  kIsoWeekday,
  kDayName,
  kWholeDay,
  kQuarter,
  kWeek,
  kIsoWeek,
  kWeekOfMonth,
  kHour,
  kHour12,
  kHalfOfDay,
  kMinute,
  kSecond,
  kMillis,
  kMicros,
  kPunctuation,
  kQuoted,
};

enum class LetterCase : uint8_t { kUpper, kTitle, kLower };

/// One item of a format.
struct DateToken {
  DatePattern pattern;
  LetterCase letters;  // of names
  int32_t size;        // bytes of the format
  int32_t width;       // bytes of the result
};

/// A format from the left.
struct FormatReader {
  StrView rest;

  /// True when the rest begins with `word` (given in upper case), written in the given case.
  STROM_INLINE bool sees(const char* word, int32_t length, LetterCase letters) const {
    if (rest.len < length) return false;
    for (int32_t i = 0; i < length; ++i) {
      const bool lower = word[i] >= 'A' && word[i] <= 'Z' &&
                         (letters == LetterCase::kLower || (letters == LetterCase::kTitle && i > 0));
      if (rest.ptr[i] != (lower ? word[i] | 0x20 : word[i])) return false;
    }
    return true;
  }
  /// Takes a keyword in upper or lower case. Only names can have mixed case in PostgreSQL.
  STROM_INLINE bool is(const char* word, int32_t length, DatePattern pattern, int32_t width, DateToken* token) const {
    const bool small = sees(word, length, LetterCase::kLower);
    if (!small && !sees(word, length, LetterCase::kUpper)) return false;
    *token = {pattern, small ? LetterCase::kLower : LetterCase::kUpper, length, width};
    return true;
  }
  STROM_INLINE bool is_name(const char* word, int32_t length, DatePattern pattern, int32_t width,
                            DateToken* token) const {
    if (!sees(word, length, LetterCase::kTitle)) return is(word, length, pattern, width, token);
    *token = {pattern, LetterCase::kTitle, length, width};
    return true;
  }
};

/// The first token of the format; kNone where only PostgreSQL knows it. Longer keywords are tried before their
/// prefixes.
STROM_INLINE DateToken date_token(StrView format) {
  const FormatReader at{format};
  DateToken token{DatePattern::kNone, LetterCase::kUpper, 1, 1};
  const char c = format.ptr[0];
  switch (c >= 'a' && c <= 'z' ? c - 0x20 : c) {
    case 'A': at.is("AM", 2, DatePattern::kHalfOfDay, 2, &token); break;
    case 'P': at.is("PM", 2, DatePattern::kHalfOfDay, 2, &token); break;
    case 'D':
      at.is_name("DAY", 3, DatePattern::kWholeDay, 9, &token) || at.is("DDD", 3, DatePattern::kDayOfYear, 3, &token) ||
          at.is("DD", 2, DatePattern::kDay, 2, &token) || at.is_name("DY", 2, DatePattern::kDayName, 3, &token) ||
          at.is("D", 1, DatePattern::kWeekday, 1, &token);
      break;
    case 'H':
      at.is("HH24", 4, DatePattern::kHour, 2, &token) || at.is("HH12", 4, DatePattern::kHour12, 2, &token) ||
          at.is("HH", 2, DatePattern::kHour12, 2, &token);
      break;
    case 'I':
      at.is("IDDD", 4, DatePattern::kNone, 0, &token) || at.is("ID", 2, DatePattern::kIsoWeekday, 1, &token) ||
          at.is("IW", 2, DatePattern::kIsoWeek, 2, &token) || at.is("IYYY", 4, DatePattern::kIsoYear, 4, &token);
      break;
    case 'M':
      at.is("MI", 2, DatePattern::kMinute, 2, &token) || at.is("MM", 2, DatePattern::kMonth, 2, &token) ||
          at.is("MS", 2, DatePattern::kMillis, 3, &token) ||
          at.is_name("MONTH", 5, DatePattern::kWholeMonth, 9, &token) ||
          at.is_name("MON", 3, DatePattern::kMonthName, 3, &token);
      break;
    case 'Q': at.is("Q", 1, DatePattern::kQuarter, 1, &token); break;
    case 'S': at.is("SSSS", 4, DatePattern::kNone, 0, &token) || at.is("SS", 2, DatePattern::kSecond, 2, &token); break;
    case 'U': at.is("US", 2, DatePattern::kMicros, 6, &token); break;
    case 'W':
      at.is("WW", 2, DatePattern::kWeek, 2, &token) || at.is("W", 1, DatePattern::kWeekOfMonth, 1, &token);
      break;
    case 'Y':
      at.is("YYYY", 4, DatePattern::kYear, 4, &token) || at.is("YYY", 3, DatePattern::kNone, 0, &token) ||
          at.is("YY", 2, DatePattern::kShortYear, 2, &token);
      break;
    case '"': {
      int32_t size = 1;
      while (size < format.len && format.ptr[size] != '"' && format.ptr[size] != '\\') ++size;
      if (size < format.len && format.ptr[size] == '"')
        token = {DatePattern::kQuoted, LetterCase::kUpper, size + 1, size - 1};
      break;
    }
    case '-':
    case '/':
    case ':':
    case '.':
    case ',':
    case ' ':
    case '_':
    case ';':
    case '(':
    case ')':
    case '|':
    case '+': token.pattern = DatePattern::kPunctuation; break;
    default: break;
  }
  return token;
}

}  // namespace strom::engine::expr
