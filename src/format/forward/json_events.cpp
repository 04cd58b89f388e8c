#include "format/forward/json_events.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "columnar/utf8.hpp"
#include "format/forward/msgpack_writer.hpp"

namespace strom::format::forward {
namespace {

constexpr int kDeepest = 64;

bool skip(std::string_view text, std::string_view* json) {
  if (!json->starts_with(text)) return false;
  json->remove_prefix(text.size());
  return true;
}

void append_utf8(uint32_t code, std::string* text) {
  constexpr size_t kMostBytes = 4;
  char bytes[kMostBytes];
  text->append(bytes, columnar::put_utf8(bytes, code) - bytes);
}

/// Four hexadecimal digits.
bool take_unit(std::string_view* json, uint32_t* unit) {
  constexpr size_t kDigits = 4;
  constexpr int kHexadecimal = 16;
  if (json->size() < kDigits) return false;
  const char* const end = json->data() + kDigits;
  const auto [at, error] = std::from_chars(json->data(), end, *unit, kHexadecimal);
  json->remove_prefix(kDigits);
  return error == std::errc() && at == end;
}

bool take_unicode(std::string_view* json, std::string* text) {
  constexpr uint32_t kHigh = 0xD800, kLow = 0xDC00, kEnd = 0xE000, kReplacement = 0xFFFD, kFirstOfPairs = 0x10000;
  uint32_t unit = 0;
  if (!take_unit(json, &unit)) return false;
  if (unit >= kHigh && unit < kLow && json->starts_with("\\u")) {
    std::string_view behind = json->substr(2);
    uint32_t low = 0;
    if (!take_unit(&behind, &low)) return false;
    if (low >= kLow && low < kEnd) {
      *json = behind;
      append_utf8(kFirstOfPairs + ((unit - kHigh) << 10) + (low - kLow), text);
      return true;
    }
  }
  append_utf8(unit >= kHigh && unit < kEnd ? kReplacement : unit, text);
  return true;
}

bool take_escape(std::string_view* json, std::string* text) {
  if (json->empty()) return false;
  const char c = json->front();
  json->remove_prefix(1);
  switch (c) {
    case '"':
    case '\\':
    case '/': *text += c; return true;
    case 'b': *text += '\b'; return true;
    case 'f': *text += '\f'; return true;
    case 'n': *text += '\n'; return true;
    case 'r': *text += '\r'; return true;
    case 't': *text += '\t'; return true;
    case 'u': return take_unicode(json, text);
    default: return false;
  }
}

/// Reads a text from behind its first quote.
bool take_text(std::string_view* json, std::string* out) {
  std::string text;
  for (;;) {
    const size_t end = json->find_first_of("\"\\");
    if (end == std::string_view::npos) return false;
    constexpr unsigned char kFirstPrintable = 0x20;
    const std::string_view plain = json->substr(0, end);
    if (std::any_of(plain.begin(), plain.end(), [](char c) { return static_cast<unsigned char>(c) < kFirstPrintable; }))
      return false;
    text += plain;
    const bool is_end = (*json)[end] == '"';
    json->remove_prefix(end + 1);
    if (is_end) break;
    if (!take_escape(json, &text)) return false;
  }
  put_text(text, out);
  return true;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A number in JSON's form. from_chars() accepts more forms.
bool take_number(std::string_view* json, std::string* out) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t begin = at;
    while (at < json->size() && is_digit((*json)[at])) ++at;
    return at > begin;
  };
  const auto is_at = [&](char a, char b) { return at < json->size() && ((*json)[at] == a || (*json)[at] == b); };
  if (is_at('-', '-')) ++at;
  const size_t first = at;
  if (!digits() || ((*json)[first] == '0' && at > first + 1)) return false;
  bool is_whole = true;
  if (is_at('.', '.')) {
    is_whole = false;
    ++at;
    if (!digits()) return false;
  }
  if (is_at('e', 'E')) {
    is_whole = false;
    ++at;
    if (is_at('+', '-')) ++at;
    if (!digits()) return false;
  }
  const char *const begin = json->data(), *const end = begin + at;
  json->remove_prefix(at);
  int64_t integer = 0;
  uint64_t large = 0;
  double number = 0;
  if (is_whole && std::from_chars(begin, end, integer).ec == std::errc())
    put_int(integer, out);
  else if (is_whole && std::from_chars(begin, end, large).ec == std::errc() && *begin != '-')
    put_uint(large, out);
  else if (std::from_chars(begin, end, number).ec == std::errc())
    put_float(number, out);
  else
    return false;  // beyond a float's range
  return true;
}

bool take_value(std::string_view* json, int depth, std::string* out);

/// Reads the items from behind the first bracket.
bool take_items(std::string_view* json, bool is_map, int depth, std::string* out) {
  const char* const end = is_map ? "}" : "]";
  uint32_t count = 0;
  std::string items;
  skip_blanks(json);
  for (bool is_end = skip(end, json); !is_end; ++count) {
    skip_blanks(json);
    if (is_map) {
      if (!skip("\"", json) || !take_text(json, &items)) return false;
      skip_blanks(json);
      if (!skip(":", json)) return false;
    }
    if (!take_value(json, depth + 1, &items)) return false;
    skip_blanks(json);
    is_end = skip(end, json);
    if (!is_end && !skip(",", json)) return false;
  }
  if (is_map)
    put_map(count, out);
  else
    put_array(count, out);
  *out += items;
  return true;
}

bool take_value(std::string_view* json, int depth, std::string* out) {
  skip_blanks(json);
  if (json->empty() || depth > kDeepest) return false;
  if (skip("{", json)) return take_items(json, true, depth, out);
  if (skip("[", json)) return take_items(json, false, depth, out);
  if (skip("\"", json)) return take_text(json, out);
  if (skip("null", json)) return put_nil(out), true;
  if (skip("true", json)) return put_bool(true, out), true;
  if (skip("false", json)) return put_bool(false, out), true;
  return take_number(json, out);
}

}  // namespace

void skip_blanks(std::string_view* json) {
  json->remove_prefix(std::min(json->find_first_not_of(" \t\r\n"), json->size()));
}

bool take_json(std::string_view* json, std::string* msgpack) { return take_value(json, 0, msgpack); }

}  // namespace strom::format::forward
