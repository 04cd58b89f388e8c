// See error_place.hpp.
#include "pg2arrow/error_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace strom::pg2arrow {

namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// The characters of a line, in bytes of their own; a tab is a space.
std::vector<std::string> characters(std::string_view line) {
  std::vector<std::string> out;
  for (const char c : line) {
    if (begins_character(c) || out.empty()) out.emplace_back();
    out.back() += c == '\t' || c == '\r' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::string error_place(const std::string& sql, int64_t position) {
  constexpr size_t kWidth = 70, kBefore = 45;
  size_t at = 0, number = 1, line = 0;  // bytes: the place, where its line begins
  for (int64_t count = 0; at < sql.size(); ++at) {
    count += begins_character(sql[at]) ? 1 : 0;
    if (count == position) break;
    if (sql[at] != '\n') continue;
    ++number;
    line = at + 1;
  }
  if (position <= 0 || (at == sql.size() && position == 1)) return {};
  const std::vector<std::string> all = characters(std::string_view(sql).substr(line, sql.find('\n', line) - line));
  const size_t column = characters(std::string_view(sql).substr(line, at - line)).size();
  const size_t from = all.size() <= kWidth || column < kBefore ? 0 : column - kBefore;
  const size_t to = std::min(all.size(), from + kWidth);
  std::string shown = fmt::format("LINE {}: {}", number, from > 0 ? "..." : "");
  const size_t margin = shown.size() + column - from;
  for (size_t i = from; i < to; ++i) shown += all[i];
  return shown + (to < all.size() ? "..." : "") + "\n" + std::string(margin, ' ') + "^";
}

}  // namespace strom::pg2arrow
