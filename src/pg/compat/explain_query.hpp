// Explains one query as PostgreSQL does, for an ExplainOneQuery_hook. PostgreSQL has a function for this since version
// 17. May ereport.
#pragma once

#include "pg/compat/explain.hpp"

extern "C" {
#include "tcop/tcopprot.h"
}

namespace strom::pg::compat {

inline void explain_one_query(Query* query, int cursor_options, IntoClause* into, ExplainState* es, const char* text,
                              ParamListInfo params, QueryEnvironment* environment) {
#if PG_VERSION_NUM >= 170000
  standard_ExplainOneQuery(query, cursor_options, into, es, text, params, environment);
#else
  const BufferUsage before = pgBufferUsage;
  instr_time start, duration;
  INSTR_TIME_SET_CURRENT(start);
  PlannedStmt* plan = pg_plan_query(query, text, cursor_options, params);
  INSTR_TIME_SET_CURRENT(duration);
  INSTR_TIME_SUBTRACT(duration, start);
  BufferUsage used;
  MemSet(&used, 0, sizeof(used));
  if (es->buffers) BufferUsageAccumDiff(&used, &pgBufferUsage, &before);
  ExplainOnePlan(plan, into, es, text, params, environment, &duration, es->buffers ? &used : nullptr);
#endif
}

}  // namespace strom::pg::compat
