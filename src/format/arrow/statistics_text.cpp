// See statistics_text.hpp.
#include "format/arrow/statistics_text.hpp"

#include <algorithm>

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

}  // namespace strom::format::arrow
