// JSON as MessagePack, from text that nobody vouches for. Used by http_events.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace strom::format::forward {

/// Appends the value that `json` begins with, after white space, and removes it from `json`. False: it is none, or is
/// nested deeper than 64 values. Numbers that are whole and have room in 64 bits are such, others are floats. What is
/// no UTF-8 in texts is replaced, and so are halves of surrogate pairs.
bool take_json(std::string_view* json, std::string* msgpack);
/// Removes white space from the beginning.
void skip_blanks(std::string_view* json);

}  // namespace strom::format::forward
