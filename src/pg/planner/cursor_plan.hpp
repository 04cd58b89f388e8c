// Plans of cursors. If a cursor's plan has PostgreSQL's own scan, the cursor can move backwards, and WHERE CURRENT OF
// finds its row. The engine's scans support neither. Used by planner.cpp. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// False if replaces_scan() is false for any plan of `parse`. The statement is in the form that the planner gets.
bool may_replace_scan(const Query* parse);

/// True if the engine scans a table where PostgreSQL would have a scan that can move backwards, and if all nodes above
/// can do so as well.
bool replaces_scan(const PlannedStmt* plan);

}  // namespace strom::pg::planner
