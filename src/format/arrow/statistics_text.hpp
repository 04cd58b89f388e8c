// The form of statistics in the custom metadata of a field: under two keys, for each record batch one integer, with
// commas between, or "null" for a batch that nothing is said of. Integers, dates and times are written as they are
// stored, decimals without their scale, floating-point numbers as the signed integer that their bits are. Used by all
// that read or write them: the reader's bounds, arrowstat and arrow-info, pg2arrow.
#pragma once

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

}  // namespace strom::format::arrow
