// The form of statistics in the custom metadata of a field: under two keys, for each record batch one integer, with
// commas between, or "null" for a batch that nothing is said of. Integers, dates and times are written as they are
// stored, decimals without their scale, floating-point numbers as the signed integer that their bits are. Texts stand
// between quotes, which tells them from what other writers may have there, with %XX for each byte that is not printable
// ASCII and for '"', '%' and ','. Used by all that read or write them: the reader's bounds, arrowstat and arrow-info,
// pg2arrow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/int128.hpp"
#include "columnar/schema.hpp"

namespace strom::format::arrow {

inline constexpr std::string_view kMinValuesKey = "min_values", kMaxValuesKey = "max_values";
inline constexpr std::string_view kNoValue = "null";

/// The first value of a key; nullptr when there is none.
const std::string* find_value(const columnar::KeyValues& metadata, std::string_view key);

/// What stands between the commas; at least one item.
std::vector<std::string_view> split_list(std::string_view list);

std::string integer_text(base::int128 value);

/// Longer texts are cut: what stands there orders, by bytes, before the lowest and behind the highest value.
inline constexpr size_t kMostTextBytes = 32;
std::string low_text_item(std::string_view lowest);
/// kNoValue for a text that nothing so short orders behind of.
std::string high_text_item(std::string_view highest);
/// The bytes that an item stands for; nothing when it is none of a text.
std::optional<std::string> parse_text_item(std::string_view item);

}  // namespace strom::format::arrow
