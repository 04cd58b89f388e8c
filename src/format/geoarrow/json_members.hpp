// The members of a JSON object, whose values stay text. Used for the metadata of geometry columns (geometry_field,
// geoparquet), which are small.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace strom::format::geoarrow {

/// Names (without escapes) and values (as they stand there) of an object's members. Empty for everything else, also for
/// what is no JSON.
std::vector<std::pair<std::string, std::string_view>> json_members(std::string_view object);

/// The value of the member of that name; the last one of several.
std::optional<std::string_view> json_member(std::string_view object, std::string_view name);

/// What a string stands for; nullopt: it is none.
std::optional<std::string> json_string(std::string_view value);

/// The elements of an array. Empty for everything else.
std::vector<std::string_view> json_elements(std::string_view array);

}  // namespace strom::format::geoarrow
