// Fetches a query's rows into a sink. The query is read-only, and runs with the rights of the caller and the snapshot
// of the calling statement. Used by arrow_export.cpp and export.cpp.
#pragma once

#include <string>

#include "pg/sqlfn/cursor_columns.hpp"

namespace strom::pg::sqlfn {

/// A cursor over `query` that outlives the call. May throw.
Portal open_query(const std::string& query);
void close_query(Portal portal);

/// Fetches all rows; without `flushes` it stops when the sink is full. `columns`: of the portal, may be nullptr. May
/// throw.
void fetch(Portal portal, CursorColumns* columns, RowSink* output, bool flushes);

}  // namespace strom::pg::sqlfn
