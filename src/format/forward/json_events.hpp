// Converts untrusted JSON to MessagePack. Used by http_events.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strom::format::forward {

/// Appends the value at the beginning of `json`, after white space, and removes it from `json`. False: there is no
/// value, or it is nested deeper than 64 values. Whole numbers that fit 64 bits become integers, others floats. Invalid
/// UTF-8 in texts is replaced, and so are halves of surrogate pairs.
bool take_json(std::string_view* json, std::string* msgpack);
/// Removes white space from the beginning.
void skip_blanks(std::string_view* json);

}  // namespace strom::format::forward
