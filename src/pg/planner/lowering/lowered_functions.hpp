// Which member of Lowering lowers a function, by the rows of registry/lowered.def. Used by lower_calls.cpp.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// The number of the row, from 0, for a function; -1 when there is none. A function of pg_catalog is given by OID and
/// name, one of another extension by "EXTENSION.NAME". A row with a signature takes precedence over a row with just a
/// name. Throws PostgresError.
int lowered_row(Oid function, const char* name);

}  // namespace strom::pg::planner
