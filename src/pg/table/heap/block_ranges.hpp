// Blocks that an index look-up of PostgreSQL leaves to a scan. Used by src/pg/node.
#pragma once

#include <vector>

#include "pg/table/heap/block_walk.hpp"

namespace strom::pg::table {

/// Runs a node that makes a bitmap (bitmap index scan, AND, OR). The ranges ascend and do not overlap. Throws
/// PostgresError.
std::vector<BlockRange> block_ranges(PlanState* bitmap);

}  // namespace strom::pg::table
