// to_char of timestamps, for formats made of YYYY, MM, DD, HH24, MI, SS and Mon with punctuation between them. The planner
// takes no other format to the engine.
#pragma once

#include "engine/expr/datetime.hpp"
#include "engine/expr/text_make.hpp"

namespace strom::engine::expr {

enum class DatePattern : uint8_t { kNone, kYear, kMonth, kDay, kHour, kMinute, kSecond, kMonthName, kPunctuation };

/// What stands at byte `at` of a format; *size: its bytes there, which are also those of the result but for HH24.
STROM_INLINE DatePattern pattern_at(StrView format, int64_t at, int64_t* size) {
  auto is = [&](const char* word, int64_t length) {
    if (format.len - at < length) return false;
    for (int64_t i = 0; i < length; ++i)
      if (format.ptr[at + i] != word[i]) return false;
    *size = length;
    return true;
  };
  auto followed_by = [&](char c) { return at + 2 < format.len && format.ptr[at + 2] == c; };  // DDD, SSSS
  if (is("YYYY", 4)) return DatePattern::kYear;
  if (is("MM", 2)) return DatePattern::kMonth;
  if (is("DD", 2)) return followed_by('D') ? DatePattern::kNone : DatePattern::kDay;
  if (is("HH24", 4)) return DatePattern::kHour;
  if (is("MI", 2)) return DatePattern::kMinute;
  if (is("SS", 2)) return followed_by('S') ? DatePattern::kNone : DatePattern::kSecond;
  if (is("Mon", 3)) return DatePattern::kMonthName;
  const char c = format.ptr[at];
  *size = 1;
  const bool plain = c == '-' || c == '/' || c == ':' || c == '.' || c == ',' || c == ' ' || c == '_';
  return plain ? DatePattern::kPunctuation : DatePattern::kNone;
}

/// Bytes of a date in the format, or -1 when it has something else.
STROM_INLINE int64_t formatted_bytes(StrView format) {
  int64_t bytes = 0;
  for (int64_t at = 0, size = 0; at < format.len; at += size) {
    const DatePattern pattern = pattern_at(format, at, &size);
    if (pattern == DatePattern::kNone) return -1;
    bytes += pattern == DatePattern::kHour ? 2 : size;
  }
  return bytes;
}

STROM_INLINE char* put_digits(char* to, int64_t value, int digits) {
  for (int i = digits; i-- > 0; value /= 10) to[i] = static_cast<char>('0' + value % 10);
  return to + digits;
}

/// Years before 1 and behind 9999 are PostgreSQL's, and so are infinite timestamps.
struct TimestampToChar {
  STROM_INLINE static bool eval(const Context& context, StrView& out, int64_t time, StrView format) {
    const int64_t bytes = formatted_bytes(format);
    if (!is_finite_time(time) || bytes <= 0) return true;
    const int64_t days = floor_days(time), seconds = (time - days * kMicrosPerDay) / 1000000;
    const CivilDate c = civil_from_days(days);
    if (c.year < 1 || c.year > 9999) return true;
    char* to = context.make_text(bytes);
    if (to == nullptr) return true;
    out = {to, bytes};
    for (int64_t at = 0, size = 0; at < format.len; at += size) {
      switch (pattern_at(format, at, &size)) {
        case DatePattern::kYear: to = put_digits(to, c.year, 4); break;
        case DatePattern::kMonth: to = put_digits(to, c.month, 2); break;
        case DatePattern::kDay: to = put_digits(to, c.day, 2); break;
        case DatePattern::kHour: to = put_digits(to, seconds / 3600, 2); break;
        case DatePattern::kMinute: to = put_digits(to, seconds / 60 % 60, 2); break;
        case DatePattern::kSecond: to = put_digits(to, seconds % 60, 2); break;
        case DatePattern::kMonthName:
          to = put(to, {"JanFebMarAprMayJunJulAugSepOctNovDec" + (c.month - 1) * 3, 3});
          break;
        default: *to++ = format.ptr[at];
      }
    }
    return false;
  }
};

}  // namespace strom::engine::expr
