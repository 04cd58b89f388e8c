// Where in a statement an error is, for people to see.
#pragma once

#include <cstdint>
#include <string>

namespace strom::pg2arrow {

/// `LINE 2: WHERE x = nope`, and below it a ^ under character `position` (from 1 on, as servers
/// count). Of a long line only the part around it. Empty: there is no such position.
std::string error_place(const std::string& sql, int64_t position);

}  // namespace strom::pg2arrow
