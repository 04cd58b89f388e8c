// Plans of cursors. A cursor can be moved backwards, and WHERE CURRENT OF finds its row, where PostgreSQL's own scan is
// behind it; the engine's scans can do neither. Used by planner.cpp. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// False when no plan of `parse` can be one of which replaces_scan() is true. The statement is as the planner gets it.
bool may_replace_scan(const Query* parse);

/// The engine scans a table where PostgreSQL would have a scan, which can be moved backwards, below nothing but nodes
/// that can.
bool replaces_scan(const PlannedStmt* plan);

}  // namespace strom::pg::planner
