// EXPLAIN: PostgreSQL 18 moved the functions for properties and groups to headers of their own.
#pragma once

#include "pg/boundary/postgres.hpp"

#if PG_VERSION_NUM >= 180000
extern "C" {
#include "commands/explain_format.h"
#include "commands/explain_state.h"
}
#endif

namespace strom::pg::compat {

/// The number of tables of a statement. If there are several, EXPLAIN qualifies columns with the table's name.
inline int explained_tables(const ExplainState* es) {
#if PG_VERSION_NUM >= 180000
  return es->rtable_size;  // the range table also has an entry for GROUP BY
#else
  return list_length(es->rtable);
#endif
}

}  // namespace strom::pg::compat
