// Functions of text whose result is a part of an argument, or a number, so that nothing is allocated. Positions and
// lengths count characters.
#pragma once

#include "engine/expr/text.hpp"

namespace strom::engine::expr {

STROM_INLINE int64_t count_chars(const Context& context, StrView s) {
  int64_t chars = 0;
  for (int64_t i = 0; i < s.len; ++chars) i += char_bytes(context, s.ptr + i, s.len - i);
  return chars;
}

/// Bytes of the first `chars` characters, of all when there are fewer.
STROM_INLINE int64_t prefix_bytes(const Context& context, StrView s, int64_t chars) {
  int64_t i = 0;
  for (; chars > 0 && i < s.len; --chars) i += char_bytes(context, s.ptr + i, s.len - i);
  return i;
}

STROM_INLINE StrView behind(StrView s, int64_t bytes) { return {s.ptr + bytes, s.len - bytes}; }

STROM_INLINE bool has_wide_chars(StrView s) {
  uint8_t bits = 0;
  for (int64_t i = 0; i < s.len; ++i) bits |= static_cast<uint8_t>(s.ptr[i]);
  return bits >= 0x80;
}

/// The position of the first `needle` (not empty) in `s` from byte `from` on, or -1.
STROM_INLINE int64_t find_bytes(StrView s, int64_t from, StrView needle) {
  const int64_t found = platform::find_bytes(s.ptr + from, s.len - from, needle.ptr, needle.len);
  return found < 0 ? -1 : from + found;
}

struct LeftText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, int32_t n) {
    const int64_t chars = n < 0 ? count_chars(context, s) + n : n;
    out = {s.ptr, prefix_bytes(context, s, chars)};
    return false;
  }
};

/// right(s, -2147483648) makes a fallback row.
struct RightText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, int32_t n) {
    const int64_t skipped = n < 0 ? -static_cast<int64_t>(n) : count_chars(context, s) - n;
    out = behind(s, prefix_bytes(context, s, skipped));
    return n == INT32_MIN;
  }
};

struct SubstringFrom {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, int32_t from) {
    out = behind(s, prefix_bytes(context, s, static_cast<int64_t>(from) - 1));
    return false;
  }
};

/// A negative length is an error in PostgreSQL.
struct SubstringFor {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, int32_t from, int32_t length) {
    const int64_t end = static_cast<int64_t>(from) + length, first = from < 1 ? 1 : from;
    const StrView rest = behind(s, prefix_bytes(context, s, first - 1));
    out = {rest.ptr, prefix_bytes(context, rest, end - first)};
    return length < 0;
  }
};

STROM_INLINE bool has_char(const Context& context, StrView set, const char* c, int64_t size) {
  for (int64_t i = 0; i < set.len;) {
    const int64_t step = char_bytes(context, set.ptr + i, set.len - i);
    if (step == size && compare_bytes(set.ptr + i, c, size) == 0) return true;
    i += step;
  }
  return false;
}

/// Where the last character of `s` (not empty) begins.
STROM_INLINE int64_t last_char(const Context& context, StrView s) {
  int64_t i = s.len - 1;
  while (!context.single_byte && i > 0 && (static_cast<uint8_t>(s.ptr[i]) & 0xc0) == 0x80) --i;
  return i;
}

template <bool kLeft, bool kRight>
struct TrimChars {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, StrView set) {
    while (kLeft && s.len > 0) {
      const int64_t size = char_bytes(context, s.ptr, s.len);
      if (!has_char(context, set, s.ptr, size)) break;
      s = behind(s, size);
    }
    while (kRight && s.len > 0) {
      const int64_t last = last_char(context, s);
      if (!has_char(context, set, s.ptr + last, s.len - last)) break;
      s.len = last;
    }
    out = s;
    return false;
  }
};

template <bool kLeft, bool kRight>
struct TrimBlanks {
  STROM_INLINE static bool eval(const Context&, StrView& out, StrView s) {
    while (kLeft && s.len > 0 && s.ptr[0] == ' ') s = behind(s, 1);
    if (kRight) s = trimmed(s);
    out = s;
    return false;
  }
};

using TrimBoth = TrimChars<true, true>;
using TrimLeft = TrimChars<true, false>;
using TrimRight = TrimChars<false, true>;
using TrimBothBlanks = TrimBlanks<true, true>;
using TrimLeftBlanks = TrimBlanks<true, false>;
using TrimRightBlanks = TrimBlanks<false, true>;

/// First position of `part`, from 1; 0 when `s` does not have it.
struct PositionText {
  STROM_INLINE static bool eval(const Context& context, int32_t& out, StrView s, StrView part) {
    const int64_t at = part.len == 0 ? 0 : find_bytes(s, 0, part);
    out = at < 0 ? 0 : static_cast<int32_t>(count_chars(context, {s.ptr, at}) + 1);
    return false;
  }
};

struct StartsWith {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView s, StrView prefix) {
    out = prefix.len <= s.len && compare_bytes(s.ptr, prefix.ptr, prefix.len) == 0;
    return false;
  }
};

/// Field `n` (not 0) of `s`; negative ones count from the end.
struct SplitPart {
  STROM_INLINE static bool eval(const Context&, StrView& out, StrView s, StrView separator, int32_t n) {
    out = {s.ptr, 0};
    if (n == 0) return true;
    if (separator.len == 0) {
      if (n == 1 || n == -1) out = s;
      return false;
    }
    int64_t field = n;
    if (n < 0) {
      int64_t fields = 1;
      for (int64_t at = find_bytes(s, 0, separator); at >= 0; at = find_bytes(s, at + separator.len, separator))
        ++fields;
      field += fields + 1;
      if (field <= 0) return false;
    }
    int64_t begin = 0;
    for (;;) {
      const int64_t end = find_bytes(s, begin, separator);
      if (--field == 0) {
        out = {s.ptr + begin, (end < 0 ? s.len : end) - begin};
        return false;
      }
      if (end < 0) return false;
      begin = end + separator.len;
    }
  }
};

/// Code point of the first character, 0 for an empty text.
struct AsciiCode {
  STROM_INLINE static bool eval(const Context& context, int32_t& out, StrView s) {
    out = s.len == 0 ? 0 : static_cast<uint8_t>(s.ptr[0]);
    if (context.single_byte || out < 0x80) return false;
    const int64_t size = char_bytes(context, s.ptr, s.len);
    if (size != (out >= 0xf0 ? 4 : out >= 0xe0 ? 3 : 2)) return true;
    out &= size == 4 ? 0x07 : size == 3 ? 0x0f : 0x1f;
    for (int64_t i = 1; i < size; ++i) out = out << 6 | (static_cast<uint8_t>(s.ptr[i]) & 0x3f);
    return false;
  }
};

/// char_length of char(n): the padding does not count.
struct CharLengthBpchar {
  STROM_INLINE static bool eval(const Context& context, int32_t& out, StrView s) {
    return CharLength::eval(context, out, trimmed(s));
  }
};

/// octet_length of char(n): the padding counts. A fixed-width column may have too little of it where characters are
/// wide (see LikeBpchar).
struct OctetLengthBpchar {
  STROM_INLINE static bool eval(const Context& context, int32_t& out, StrView s) {
    out = static_cast<int32_t>(s.len);
    return !context.single_byte && has_wide_chars(s);
  }
};

}  // namespace strom::engine::expr
