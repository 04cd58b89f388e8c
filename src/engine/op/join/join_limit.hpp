// How many joins one pipeline takes. The planner leaves further ones to PostgreSQL.
#pragma once

#include <cstddef>

namespace strom::engine::op {

inline constexpr size_t kMostJoins = 64;

}  // namespace strom::engine::op
