// The form of text in each style: which bytes are special, and how they are written. Private to src/format/csv.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "base/hex.hpp"

namespace strom::format::csv {

inline char* put_bytes(char* out, const char* from, int64_t size) {
  std::memcpy(out, from, static_cast<size_t>(size));
  return out + size;
}

/// A form has: is_special(byte), true for bytes that cannot be written unchanged; put_special(), which writes a text
/// that may have such bytes; needs_quotes(), whether a text without such bytes needs quotes all the same; room(size),
/// the most bytes that a text of `size` bytes becomes.
struct CsvForm {
  char delimiter = ',', quote = '"';
  std::string null_text;
  bool quote_all = false, is_only_column = false;

  bool is_special(char c) const { return (c == delimiter) | (c == quote) | (c == '\n') | (c == '\r'); }
  static int64_t room(int64_t size) { return 2 * size + 2; }

  /// Quotes texts that would read back as a null or as the end of the data.
  bool needs_quotes(const char* text, int64_t size) const {
    if (quote_all) return true;
    const auto bytes = static_cast<size_t>(size);
    if (bytes == null_text.size() && std::memcmp(text, null_text.data(), bytes) == 0) return true;
    return is_only_column && size == 2 && text[0] == '\\' && text[1] == '.';
  }
  char* put_special(char* out, const char* text, int64_t size) const {
    *out++ = quote;
    for (int64_t i = 0; i < size; ++i) {
      if (text[i] == quote) *out++ = quote;
      *out++ = text[i];
    }
    *out++ = quote;
    return out;
  }
};

/// COPY's text format.
struct TsvForm {
  char delimiter = '\t';

  bool is_special(char c) const { return (c == delimiter) | (c == '\\') | ((c >= '\b') & (c <= '\r')); }
  static int64_t room(int64_t size) { return 2 * size; }
  static constexpr char quote = '"';
  static bool needs_quotes(const char*, int64_t) { return false; }
  char* put_special(char* out, const char* text, int64_t size) const {
    for (int64_t i = 0; i < size; ++i) {
      const char c = text[i];
      if (is_special(c)) *out++ = '\\';
      *out++ = c >= '\b' && c <= '\r' ? "btnvfr"[c - '\b'] : c;
    }
    return out;
  }
};

struct JsonForm {
  static bool is_special(char c) { return (static_cast<unsigned char>(c) < 0x20) | (c == '"') | (c == '\\'); }
  static int64_t room(int64_t size) { return 6 * size + 2; }
  static constexpr char quote = '"';
  static bool needs_quotes(const char*, int64_t) { return true; }
  static char* put_special(char* out, const char* text, int64_t size) {
    *out++ = '"';
    for (int64_t i = 0; i < size; ++i) out = put_byte(out, text[i]);
    *out++ = '"';
    return out;
  }

 private:
  static char* put_byte(char* out, char c) {
    if (!is_special(c)) {
      *out++ = c;
      return out;
    }
    *out++ = '\\';
    switch (c) {
      case '\b': *out++ = 'b'; break;
      case '\f': *out++ = 'f'; break;
      case '\n': *out++ = 'n'; break;
      case '\r': *out++ = 'r'; break;
      case '\t': *out++ = 't'; break;
      case '"':
      case '\\': *out++ = c; break;
      default: out = base::put_hex(put_bytes(out, "u00", 3), static_cast<uint8_t>(c));
    }
    return out;
  }
};

/// Cells of a GitHub table: without line breaks, and with escaped bars.
struct MarkdownForm {
  static bool is_special(char c) { return (c == '|') | (c == '\n') | (c == '\r'); }
  static int64_t room(int64_t size) { return 4 * size; }
  static constexpr char quote = '"';
  static bool needs_quotes(const char*, int64_t) { return false; }
  static char* put_special(char* out, const char* text, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
      if (text[i] == '|') *out++ = '\\';
      if (text[i] == '\n') {
        out = put_bytes(out, "<br>", 4);
      } else if (text[i] != '\r') {
        *out++ = text[i];
      }
    }
    return out;
  }
};

}  // namespace strom::format::csv
