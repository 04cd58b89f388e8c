// Text: byte-wise comparison, char(n) comparison without trailing spaces, lengths, LIKE.
#pragma once

#include "engine/expr/element.hpp"

namespace strom::engine::expr {

using platform::compare_bytes;

STROM_INLINE bool text_equal(StrView a, StrView b) { return a.len == b.len && compare_bytes(a.ptr, b.ptr, a.len) == 0; }

STROM_INLINE int text_compare(StrView a, StrView b) {
  const int order = compare_bytes(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
  return order != 0 ? order : a.len < b.len ? -1 : a.len > b.len;
}

/// char(n) without its padding.
STROM_INLINE StrView trimmed(StrView s) {
  while (s.len > 0 && s.ptr[s.len - 1] == ' ') --s.len;
  return s;
}

#define STROM_DEFINE_TEXT_COMPARE(name, expression)                                             \
  struct name##Text {                                                                           \
    STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView a, StrView b) {         \
      out = expression;                                                                         \
      return false;                                                                             \
    }                                                                                           \
  };                                                                                            \
  struct name##Bpchar {                                                                         \
    STROM_INLINE static bool eval(const Context& context, uint8_t& out, StrView a, StrView b) { \
      return name##Text::eval(context, out, trimmed(a), trimmed(b));                            \
    }                                                                                           \
  };
STROM_DEFINE_TEXT_COMPARE(Eq, text_equal(a, b))
STROM_DEFINE_TEXT_COMPARE(Ne, !text_equal(a, b))
STROM_DEFINE_TEXT_COMPARE(Lt, text_compare(a, b) < 0)
STROM_DEFINE_TEXT_COMPARE(Le, text_compare(a, b) <= 0)
STROM_DEFINE_TEXT_COMPARE(Gt, text_compare(a, b) > 0)
STROM_DEFINE_TEXT_COMPARE(Ge, text_compare(a, b) >= 0)
#undef STROM_DEFINE_TEXT_COMPARE

/// Bytes of the character at s[0]; at most `left`.
STROM_INLINE int64_t char_bytes(const Context& context, const char* s, int64_t left) {
  const uint8_t lead = static_cast<uint8_t>(*s);
  const int64_t size = context.single_byte || lead < 0x80 ? 1
                       : lead >= 0xf0                     ? 4
                       : lead >= 0xe0                     ? 3
                       : lead >= 0xc0                     ? 2
                                                          : 1;
  return size < left ? size : left;
}

struct CharLength {
  STROM_INLINE static bool eval(const Context& context, int32_t& out, StrView s) {
    int32_t chars = 0;
    for (int64_t i = 0; i < s.len; ++chars) i += char_bytes(context, s.ptr + i, s.len - i);
    out = chars;
    return false;
  }
};

struct OctetLength {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView s) {
    out = static_cast<int32_t>(s.len);
    return false;
  }
};

struct TrimBpchar {
  STROM_INLINE static bool eval(const Context&, StrView& out, StrView s) {
    out = trimmed(s);
    return false;
  }
};

/// LIKE with `\` as the escape. Returns 1 match, 0 no match, -1 when the pattern ends in a lone escape and PostgreSQL
/// has to decide whether that matters. It backtracks to the last `%` only, which is enough: an earlier `%` gains
/// nothing from taking more text.
STROM_INLINE int like(const Context& context, StrView text, StrView pattern) {
  int64_t t = 0, p = 0, retry_t = -1, retry_p = -1;
  for (;;) {
    if (p < pattern.len && pattern.ptr[p] == '%') {
      retry_p = ++p;
      retry_t = t;
      if (p == pattern.len) return 1;
      continue;
    }
    if (t == text.len) {
      if (p == pattern.len) return 1;
      return pattern.ptr[p] == '\\' && p + 1 == pattern.len ? -1 : 0;
    }
    if (p < pattern.len) {
      char want = pattern.ptr[p];
      if (want == '_') {
        t += char_bytes(context, text.ptr + t, text.len - t);
        ++p;
        continue;
      }
      int64_t step = 1;
      if (want == '\\') {
        if (p + 1 == pattern.len) return -1;
        want = pattern.ptr[p + 1];
        step = 2;
      }
      if (text.ptr[t] == want) {
        ++t;
        p += step;
        continue;
      }
    }
    if (retry_p < 0) return 0;
    retry_t += char_bytes(context, text.ptr + retry_t, text.len - retry_t);
    t = retry_t;
    p = retry_p;
  }
}

struct Like {
  STROM_INLINE static bool eval(const Context& context, uint8_t& out, StrView text, StrView pattern) {
    const int match = like(context, text, pattern);
    out = match > 0;
    return match < 0;
  }
};

struct NotLike {
  STROM_INLINE static bool eval(const Context& context, uint8_t& out, StrView text, StrView pattern) {
    const int match = like(context, text, pattern);
    out = match == 0;
    return match < 0;
  }
};

/// char(n) is padded to n characters. A fixed-width column of n bytes has too little padding if it holds wide
/// characters, so such rows are fallback rows.
template <class Match>
struct LikeBpchar {
  STROM_INLINE static bool eval(const Context& context, uint8_t& out, StrView text, StrView pattern) {
    bool wide = false;
    if (!context.single_byte)
      for (int64_t i = 0; i < text.len; ++i) wide |= static_cast<uint8_t>(text.ptr[i]) >= 0x80;
    return Match::eval(context, out, text, pattern) | wide;
  }
};

}  // namespace strom::engine::expr
