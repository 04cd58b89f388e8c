// What the planner has to know of joins: how many one pipeline takes, since it leaves further ones to PostgreSQL, and
// what the index of an inner side takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/plan/ir.hpp"

namespace strom::engine::op {

inline constexpr size_t kMostJoins = 64;

/// About the bytes that the index takes for a build row, whose geometry has `key_bytes` where `spatial` is one.
int64_t index_row_memory(plan::SpatialMatch spatial, int64_t key_bytes);

}  // namespace strom::engine::op
