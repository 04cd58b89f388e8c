// upper() and lower() of UTF-8 text by a table of the collation's characters. The planner makes the table
// (pg/planner/lowering/case_table.cpp). Single source.
#pragma once

#include "engine/expr/text_make.hpp"

namespace strom::engine::expr {

/// A table begins with this number. Then it has the number of a page for each 256 characters up to U+1FFFF: 0 = these
/// characters do not change, kUnknownPage = only PostgreSQL knows. The pages follow, the first with number 1. A page
/// has 256 images of 2 bytes, the lower byte first. An image is the character that a character becomes; 0 = only
/// PostgreSQL knows.
struct CaseTableHead {
  uint32_t plain_ascii;  // 1 = ASCII has the case of the C locale
};
inline constexpr int64_t kCasePages = 512, kCasePageBytes = 512, kUnknownPage = 255;

/// The character at s[0] and its size in bytes; size 0: not UTF-8.
struct Utf8Char {
  uint32_t code;
  int32_t size;
};
STROM_INLINE Utf8Char utf8_char(StrView s) {
  const auto byte = [s](int64_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(s.ptr[i])); };
  const uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const int32_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || s.len < size) return {0, 0};
  uint32_t code = lead & (0xffu >> (size + 1));
  for (int32_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {0, 0};
    code = code << 6 | (byte(i) & 0x3f);
  }
  return {code, size};
}

class CaseTable {
 public:
  /// A table with too few bytes has no images.
  STROM_INLINE explicit CaseTable(StrView bytes) : bytes_(bytes) {
    if (bytes.len >= kBegin) __builtin_memcpy(&head_, bytes.ptr, sizeof head_);
  }
  STROM_INLINE bool has_plain_ascii() const { return head_.plain_ascii != 0; }
  /// What a character becomes; 0: only PostgreSQL knows.
  STROM_INLINE uint32_t image(uint32_t code) const {
    if (code >> 8 >= kCasePages || bytes_.len < kBegin) return 0;
    const int64_t page = byte(static_cast<int64_t>(sizeof head_) + (code >> 8));
    if (page == 0) return code;
    if (page == kUnknownPage) return 0;
    const int64_t at = kBegin + (page - 1) * kCasePageBytes + 2 * (code & 0xff);
    return at + 1 < bytes_.len ? byte(at) | byte(at + 1) << 8 : 0;
  }

 private:
  static constexpr int64_t kBegin = sizeof(CaseTableHead) + kCasePages;
  STROM_INLINE uint32_t byte(int64_t i) const { return static_cast<uint8_t>(bytes_.ptr[i]); }

  StrView bytes_;
  CaseTableHead head_{0};
};

template <bool kUpper>
struct MapCase {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView s, StrView table) {
    const CaseTable images(table);
    if (images.has_plain_ascii() && !has_wide_chars(s))
      return map_ascii(context, out, s, [](char c, int64_t) { return kUpper ? ascii_upper(c) : ascii_lower(c); });
    int64_t size = 0;
    for (int64_t i = 0; i < s.len;) {
      const Utf8Char c = utf8_char(behind(s, i));
      const uint32_t image = c.size == 0 ? 0 : images.image(c.code);
      if (image == 0) return true;
      size += utf8_size(image);
      i += c.size;
    }
    char* made = context.make_text(size);
    if (made == nullptr) return true;
    out = {made, size};
    for (int64_t i = 0; i < s.len;) {
      const Utf8Char c = utf8_char(behind(s, i));
      made = put_utf8(made, images.image(c.code));
      i += c.size;
    }
    return false;
  }
};

}  // namespace strom::engine::expr
