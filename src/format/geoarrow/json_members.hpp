// The members of a JSON object; their values stay text. Used for the metadata of geometry columns (geometry_field,
// geoparquet), which are small.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strom::format::geoarrow {

/// Names (without escapes) and values (as text) of an object's members. Empty for all other values, and for text that
/// is not JSON.
std::vector<std::pair<std::string, std::string_view>> json_members(std::string_view object);

/// The value of the member with that name, the last one if there are several.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

/// The decoded string; nullopt: the value is not a string.
std::optional<std::string> json_string(std::string_view value);

/// The elements of an array. Empty for all other values.
std::vector<std::string_view> json_elements(std::string_view array);

}  // namespace strom::format::geoarrow
