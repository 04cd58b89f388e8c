// The ranges of blocks that PostgreSQL's index look-ups select for a scan. Used by src/pg/node.
#pragma once

#include <vector>

#include "pg/table/heap/block_walk.hpp"

namespace strom::pg::table {

/// Runs a node that makes a bitmap (bitmap index scan, AND, OR). The ranges are in ascending order and do not overlap.
/// Throws PostgresError.
std::vector<BlockRange> block_ranges(PlanState* bitmap);

}  // namespace strom::pg::table
