// Which member of Lowering is for a function: the rows of registry/lowered.def. Used by lower_calls.cpp.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// The number of the row, counted from 0, for a function of pg_catalog with its OID and name, or of another extension
/// with "EXTENSION.NAME"; -1: there is none. A row with a signature goes before one with a name alone. Throws
/// PostgresError.
int lowered_row(Oid function, const char* name);

}  // namespace strom::pg::planner
