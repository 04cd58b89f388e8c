// The form of statistics in a field's custom metadata: two keys, each with one integer for each record batch, separated
// by commas; "null" for a batch without statistics. Integers, dates and times are written as they are stored, decimals
// without their scale, floating-point numbers as the signed integer of their bits. Texts are in quotes, which
// distinguishes them from what other writers may have there, with %XX for each byte that is not printable ASCII and for
// '"', '%' and ','. Used by all readers and writers of statistics: the reader's bounds, arrowstat and arrow-info,
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

/// The items between the commas; at least one.
std::vector<std::string_view> split_list(std::string_view list);

std::string integer_text(base::int128 value);

/// Longer texts are cut. The cut text orders, by bytes, before the lowest or after the highest value.
inline constexpr size_t kMostTextBytes = 32;
std::string low_text_item(std::string_view lowest);
/// kNoValue when no text of that length orders after `highest`.
std::string high_text_item(std::string_view highest);
/// The text of an item; nullopt when it is not an item of a text.
std::optional<std::string> parse_text_item(std::string_view item);

}  // namespace strom::format::arrow
