// See statistics_text.hpp.
#include "format/arrow/statistics/statistics_text.hpp"

#include <algorithm>

#include "base/hex.hpp"

namespace strom::format::arrow {

const std::string* find_value(const columnar::KeyValues& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata)
    if (name == key) return &value;
  return nullptr;
}

std::vector<std::string_view> split_list(std::string_view list) {
  std::vector<std::string_view> items;
  for (;;) {
    const size_t comma = list.find(',');
    items.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    list.remove_prefix(comma + 1);
  }
}

std::string integer_text(base::int128 value) {
  const bool negative = value < 0;
  auto magnitude = negative ? -static_cast<base::uint128>(value) : static_cast<base::uint128>(value);
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(magnitude % 10));
    magnitude /= 10;
  } while (magnitude != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

namespace {

constexpr std::string_view kDigits = base::kUpperHexDigits;

std::string text_item(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte > '~' || c == '"' || c == '%' || c == ',') {
      out += '%';
      base::append_hex(&out, c, base::kUpperHexDigits);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// Cuts the text to its kept length, without a part of a character at its end.
std::string_view cut(std::string_view text) {
  if (text.size() <= kMostTextBytes) return text;
  constexpr size_t kLongestCharacter = 4;
  size_t size = kMostTextBytes;
  while (size > kMostTextBytes - kLongestCharacter && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace

std::string low_text_item(std::string_view lowest) { return text_item(cut(lowest)); }

std::string high_text_item(std::string_view highest) {
  std::string bound(cut(highest));
  if (bound.size() == highest.size()) return text_item(bound);
  // The next text of that length: all texts that begin with the cut one come before it.
  while (!bound.empty() && bound.back() == '\xFF') bound.pop_back();
  if (bound.empty()) return std::string(kNoValue);
  ++bound.back();
  return text_item(bound);
}

std::optional<std::string> parse_text_item(std::string_view item) {
  if (item.size() < 2 || item.front() != '"' || item.back() != '"') return std::nullopt;
  item = item.substr(1, item.size() - 2);
  std::string text;
  for (size_t i = 0; i < item.size(); ++i) {
    if (item[i] == '"') return std::nullopt;
    if (item[i] != '%') {
      text += item[i];
      continue;
    }
    if (item.size() - i < 3) return std::nullopt;
    const size_t high = kDigits.find(item[i + 1]), low = kDigits.find(item[i + 2]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    text += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return text;
}

}  // namespace strom::format::arrow
