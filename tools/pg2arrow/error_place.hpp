// Where in a statement an error is, for people to see.
#pragma once

#include <cstdint>
#include <string>

namespace strom::pg2arrow {

/// `LINE 2: WHERE x = nope`, and below it a ^ under the character that `position` counts (from 1 on, as servers tell
/// it). Of a long line only what is near. Empty: there is no such place.
std::string error_place(const std::string& sql, int64_t position);

}  // namespace strom::pg2arrow
