// PostgreSQL stores a compressed value in the form in which it got it. A value that went through the engine would be
// compressed again, by the current method. So nodes of statements that store their rows leave compressed values to
// PostgreSQL. May ereport.
#include "pg/node/stored_result.hpp"

#include "pg/boundary/postgres.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "executor/executor.h"
#include "parser/parsetree.h"
#include "tcop/dest.h"
}

namespace strom::pg::node {

namespace {

ExecutorStart_hook_type next_hook = nullptr;
bool is_stored = false;

bool writes_heap_table(const PlannedStmt* statement) {
  ListCell* cell;
  foreach (cell, statement->resultRelations)
    if (rt_fetch(lfirst_int(cell), statement->rtable)->relkind != RELKIND_FOREIGN_TABLE) return true;
  return false;
}

void on_start(QueryDesc* query, int flags) {
  const bool outer = is_stored;
  const CommandDest to = query->dest != nullptr ? query->dest->mydest : DestNone;
  is_stored = to == DestIntoRel || to == DestTransientRel || writes_heap_table(query->plannedstmt);
  PG_TRY();
  {
    if (next_hook != nullptr)
      next_hook(query, flags);
    else
      standard_ExecutorStart(query, flags);
  }
  PG_FINALLY();
  {
    is_stored = outer;
  }
  PG_END_TRY();
}

}  // namespace

void watch_stored_results() {
  next_hook = ExecutorStart_hook;
  ExecutorStart_hook = on_start;
}

bool result_is_stored() { return is_stored; }

}  // namespace strom::pg::node
