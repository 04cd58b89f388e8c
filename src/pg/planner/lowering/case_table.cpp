// See case_table.hpp.
#include "pg/planner/lowering/case_table.hpp"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "engine/expr/case_map.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/collation.hpp"

namespace strom::pg::planner {

using boundary::guard;
using columnar::put_utf8;
using engine::expr::CaseTableHead;
using engine::expr::kCasePages;
using engine::expr::utf8_char;
using engine::expr::Utf8Char;

namespace {

constexpr uint32_t kPageChars = 256, kEndOfBmp = 0x10000;
constexpr auto kEndOfAsked = static_cast<uint32_t>(kCasePages) * kPageChars;
constexpr uint32_t kFirstSurrogate = 0xd800, kEndOfSurrogates = 0xe000;

/// The images of kPageChars characters, beginning with `begin`.
using Page = std::array<uint32_t, kPageChars>;

/// Asks PostgreSQL for the images of all characters in one text. False: it does not map them one to one.
bool ask_page(bool upper, Oid collation, uint32_t begin, Page* images) {
  char text[4 * kPageChars];
  char* end = text;
  const uint32_t first = begin == 0 ? 1 : begin;  // texts have no U+0000
  for (uint32_t code = first; code < begin + kPageChars; ++code) end = put_utf8(end, code);
  (*images)[0] = 0;
  const char* mapped = guard([&] {
    const auto size = static_cast<size_t>(end - text);
    return upper ? str_toupper(text, size, collation) : str_tolower(text, size, collation);
  });
  registry::StrView rest{mapped, static_cast<int64_t>(std::strlen(mapped))};
  for (uint32_t code = first; code < begin + kPageChars; ++code) {
    if (rest.len == 0) return false;
    const Utf8Char image = utf8_char(rest);
    if (image.size == 0) return false;
    (*images)[code - begin] = image.code;
    rest = {rest.ptr + image.size, rest.len - image.size};
  }
  return rest.len == 0;
}

bool are_own_images(const Page& page, uint32_t begin) {
  for (uint32_t i = begin == 0 ? 1 : 0; i < kPageChars; ++i)
    if (page[i] != begin + i) return false;
  return true;
}

bool is_plain_ascii(const Page& page, bool upper) {
  for (uint32_t i = 1; i < 0x80; ++i) {
    const auto c = static_cast<unsigned char>(i);
    if (page[i] != (upper ? pg_ascii_toupper(c) : pg_ascii_tolower(c))) return false;
  }
  return true;
}

std::optional<std::string> make_table(bool upper, Oid collation) {
  if (!guard([collation] { return compat::collation_maps_characters(collation); })) return std::nullopt;
  CaseTableHead head{0};
  std::string numbers(static_cast<size_t>(kCasePages), '\0'), pages;
  Page page;
  for (uint32_t begin = 0; begin < kEndOfAsked; begin += kPageChars) {
    if (begin >= kFirstSurrogate && begin < kEndOfSurrogates) continue;  // texts cannot contain them
    if (!ask_page(upper, collation, begin, &page)) return std::nullopt;
    if (begin == 0) head.plain_ascii = is_plain_ascii(page, upper) ? 1 : 0;
    if (are_own_images(page, begin)) continue;
    if (begin >= kEndOfBmp) {
      numbers[begin / kPageChars] = static_cast<char>(engine::expr::kUnknownPage);
      continue;
    }
    for (const uint32_t code : page) {
      const uint32_t image = code < kEndOfBmp ? code : 0;
      pages += static_cast<char>(image & 0xff);
      pages += static_cast<char>(image >> 8);
    }
    numbers[begin / kPageChars] = static_cast<char>(pages.size() / static_cast<size_t>(engine::expr::kCasePageBytes));
  }
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + numbers + pages;
}

}  // namespace

// The search takes milliseconds, so a session caches its results. A collation's mapping never changes.
const std::string* case_table(bool upper, Oid collation) {
  static std::map<std::pair<bool, Oid>, std::optional<std::string>> tables;
  auto found = tables.find({upper, collation});
  if (found == tables.end()) found = tables.emplace(std::pair(upper, collation), make_table(upper, collation)).first;
  return found->second.has_value() ? &*found->second : nullptr;
}

}  // namespace strom::pg::planner
