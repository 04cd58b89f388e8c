// What the planner has to know of joins: the most joins of one pipeline (further ones run in PostgreSQL), and the
// memory of an inner side's index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/plan/ir.hpp"

namespace strom::engine::op {

inline constexpr size_t kMostJoins = 64;

/// About the bytes that the index takes for a build row. If `spatial` is a spatial match, the row's geometry has
/// `key_bytes`.
int64_t index_row_memory(plan::SpatialMatch spatial, int64_t key_bytes);

}  // namespace strom::engine::op
