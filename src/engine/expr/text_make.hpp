// Functions that make new text, in the worker's arena. Rows for which there is no room are fallback rows. The functions
// are not called for rows with nulls.
#pragma once

#include "columnar/utf8.hpp"
#include "engine/expr/text_parts.hpp"

namespace strom::engine::expr {

using columnar::put_utf8;
using columnar::utf8_size;

/// Most characters that padding and repetition make. Longer results make fallback rows, because they may be errors.
inline constexpr int32_t kMostPadded = 1 << 20;

/// Copies `from` to `to`; returns the position behind the copy.
STROM_INLINE char* put(char* to, StrView from) {
  platform::copy_bytes(to, from.ptr, from.len);
  return to + from.len;
}

struct ConcatText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView a, StrView b) {
    char* made = context.make_text(a.len + b.len);
    if (made == nullptr) return true;
    put(put(made, a), b);
    out = {made, a.len + b.len};
    return false;
  }
};

STROM_INLINE char ascii_upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
STROM_INLINE char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
STROM_INLINE bool ascii_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Case of ASCII text. Texts with wider characters depend on the collation and make fallback rows. The planner has
/// checked that the collation maps ASCII as the C locale does.
template <class Map>
STROM_INLINE bool map_ascii(const Context& context, StrView& out, StrView s, Map map) {
  if (has_wide_chars(s)) return true;
  char* made = context.make_text(s.len);
  if (made == nullptr) return true;
  for (int64_t i = 0; i < s.len; ++i) made[i] = map(s.ptr[i], i);
  out = {made, s.len};
  return false;
}

struct UpperText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    return map_ascii(context, out, s, [](char c, int64_t) { return ascii_upper(c); });
  }
};
struct LowerText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    return map_ascii(context, out, s, [](char c, int64_t) { return ascii_lower(c); });
  }
};
struct InitcapText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    return map_ascii(context, out, s, [s](char c, int64_t i) {
      return i > 0 && ascii_alnum(s.ptr[i - 1]) ? ascii_lower(c) : ascii_upper(c);
    });
  }
};

struct ReplaceText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, StrView from, StrView to) {
    out = s;
    if (s.len == 0 || from.len == 0) return false;
    int64_t found = 0;
    for (int64_t at = find_bytes(s, 0, from); at >= 0; at = find_bytes(s, at + from.len, from)) ++found;
    if (found == 0) return false;
    const int64_t size = s.len + found * (to.len - from.len);
    char* made = context.make_text(size);
    if (made == nullptr) return true;
    out = {made, size};
    int64_t begin = 0;
    for (int64_t at = find_bytes(s, 0, from); at >= 0; at = find_bytes(s, begin, from)) {
      made = put(put(made, {s.ptr + begin, at - begin}), to);
      begin = at + from.len;
    }
    put(made, behind(s, begin));
    return false;
  }
};

/// lpad and rpad: `length` characters, of `s` and of `fill` repeated.
template <bool kLeft>
struct PadText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, int32_t length, StrView fill) {
    if (length > kMostPadded) return true;
    const int64_t wanted = length < 0 ? 0 : length, chars = count_chars(context, s);
    const StrView kept{s.ptr, chars > wanted ? prefix_bytes(context, s, wanted) : s.len};
    const int64_t missing = chars > wanted || fill.len == 0 ? 0 : wanted - chars;
    out = kept;
    if (missing == 0) return false;
    const int64_t fill_chars = count_chars(context, fill), whole = missing / fill_chars;
    const StrView rest{fill.ptr, prefix_bytes(context, fill, missing % fill_chars)};
    const int64_t size = kept.len + whole * fill.len + rest.len;
    char* made = context.make_text(size);
    if (made == nullptr) return true;
    out = {made, size};
    if (!kLeft) made = put(made, kept);
    for (int64_t i = 0; i < whole; ++i) made = put(made, fill);
    made = put(made, rest);
    if (kLeft) put(made, kept);
    return false;
  }
};

/// Casts a text of a file to char(length): pads it, or cuts blanks at its end. Other texts that are too long are errors
/// in PostgreSQL.
struct CharOfText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, int32_t length) {
    out = s;
    if (s.len == length && (context.single_byte || !has_wide_chars(s))) return false;
    const int64_t missing = length - count_chars(context, s);
    if (missing < 0) {
      out.len = prefix_bytes(context, s, length);
      for (int64_t i = out.len; i < s.len; ++i)
        if (s.ptr[i] != ' ') return true;
    } else if (missing > 0) {
      char* made = missing > kMostPadded ? nullptr : context.make_text(s.len + missing);
      if (made == nullptr) return true;
      out = {made, s.len + missing};
      char* end = put(made, s);
      for (int64_t i = 0; i < missing; ++i) end[i] = ' ';
    }
    return false;
  }
};

struct RepeatText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, int32_t times) {
    out = {s.ptr, 0};
    if (times <= 0 || s.len == 0) return false;
    if (times > kMostPadded) return true;
    char* made = context.make_text(s.len * times);
    if (made == nullptr) return true;
    out = {made, s.len * times};
    for (int32_t i = 0; i < times; ++i) made = put(made, s);
    return false;
  }
};

struct ReverseText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s) {
    char* made = context.make_text(s.len);
    if (made == nullptr) return true;
    for (int64_t i = 0; i < s.len;) {
      const int64_t size = char_bytes(context, s.ptr + i, s.len - i);
      put(made + s.len - i - size, {s.ptr + i, size});
      i += size;
    }
    out = {made, s.len};
    return false;
  }
};

/// Prints `value` in decimal digits, `scale` of them after the point.
STROM_INLINE bool print_decimal(const Context& context, StrView& out, int128 value, int scale) {
  uint128 rest = value < 0 ? -static_cast<uint128>(value) : static_cast<uint128>(value);
  int digits = 1;
  for (uint128 left = rest / 10; left != 0; left /= 10) ++digits;
  if (digits <= scale) digits = scale + 1;
  const int size = (value < 0) + digits + (scale > 0);
  char* made = context.make_text(size);
  if (made == nullptr) return true;
  out = {made, size};
  char* to = made + size;
  for (int i = 0; i < digits; ++i) {
    if (i == scale && scale > 0) *--to = '.';
    *--to = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  if (value < 0) *--to = '-';
  return false;
}

struct IntToText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, int64_t value) {
    return print_decimal(context, out, value, 0);
  }
};
struct NumericToText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, int128 value) {
    return print_decimal(context, out, value, context.scale);
  }
};
struct BoolToText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, uint8_t value) {
    const StrView word = value ? StrView{"true", 4} : StrView{"false", 5};
    char* made = context.make_text(word.len);
    if (made == nullptr) return true;
    put(made, word);
    out = {made, word.len};
    return false;
  }
};

/// chr() of a Unicode code point. Other numbers are errors in PostgreSQL.
struct CharOfCode {
  STROM_INLINE static bool eval(const Context& context, StrView& out, int32_t code) {
    if (code <= 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || context.single_byte) return true;
    const auto character = static_cast<uint32_t>(code);
    const int32_t size = utf8_size(character);
    char* made = context.make_text(size);
    if (made == nullptr) return true;
    out = {made, size};
    put_utf8(made, character);
    return false;
  }
};

/// to_hex(): the bits of the value's own width.
template <class Unsigned>
struct IntToHex {
  template <class A>
  STROM_INLINE static bool eval(const Context& context, StrView& out, A a) {
    const auto bits = static_cast<Unsigned>(a);
    int digits = 1;
    for (Unsigned left = bits >> 4; left != 0; left >>= 4) ++digits;
    char* made = context.make_text(digits);
    if (made == nullptr) return true;
    for (int i = 0; i < digits; ++i) {
      const int digit = static_cast<int>(bits >> (4 * (digits - 1 - i)) & 15);
      made[i] = static_cast<char>(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    out = {made, digits};
    return false;
  }
};

/// translate(): each character of `from` becomes the one at its index in `to`, or nothing.
struct TranslateText {
  /// Index of the character at `c` in `set`, or -1.
  STROM_INLINE static int64_t index_in(const Context& context, StrView set, const char* c, int64_t size) {
    int64_t index = 0;
    for (int64_t i = 0; i < set.len; ++index) {
      const int64_t step = char_bytes(context, set.ptr + i, set.len - i);
      if (step == size && compare_bytes(set.ptr + i, c, size) == 0) return index;
      i += step;
    }
    return -1;
  }

  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, StrView from, StrView to) {
    constexpr int64_t kMostCharBytes = 4;
    if (s.len > kMostPadded) return true;
    char* made = context.make_text(s.len * kMostCharBytes);
    if (made == nullptr) return true;
    char* at = made;
    for (int64_t i = 0; i < s.len;) {
      const int64_t size = char_bytes(context, s.ptr + i, s.len - i);
      const int64_t index = index_in(context, from, s.ptr + i, size);
      if (index < 0) {
        at = put(at, {s.ptr + i, size});
      } else if (const int64_t begin = prefix_bytes(context, to, index); begin < to.len) {
        at = put(at, {to.ptr + begin, char_bytes(context, to.ptr + begin, to.len - begin)});
      }
      i += size;
    }
    out = {made, at - made};
    return false;
  }
};

}  // namespace strom::engine::expr
