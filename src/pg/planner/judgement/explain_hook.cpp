// EXPLAIN (VERBOSE) lists what does not run in the engine. PostgreSQL's nodes print themselves, so the lines follow the
// plan. In structured formats they are an element of their own, next to the query's. May ereport.
#include "pg/compat/explain_query.hpp"
#include "pg/planner/judgement/judgement.hpp"

namespace strom::pg::planner {

namespace {

ExplainOneQuery_hook_type next_explain_hook = nullptr;

void print(List* lines, ExplainState* es) {
  if (lines == NIL) return;
  if (es->format != EXPLAIN_FORMAT_TEXT) {
    ExplainOpenGroup("Query", nullptr, true, es);
    ExplainPropertyList("Not Offloaded", lines, es);
    ExplainCloseGroup("Query", nullptr, true, es);
    return;
  }
  ListCell* cell;
  foreach (cell, lines) ExplainPropertyText("Not Offloaded", static_cast<char*>(lfirst(cell)), es);
}

void on_explain(Query* query, int cursor_options, IntoClause* into, ExplainState* es, const char* text,
                ParamListInfo params, QueryEnvironment* environment) {
  const auto next = next_explain_hook != nullptr ? next_explain_hook : compat::explain_one_query;
  if (!es->verbose) {
    next(query, cursor_options, into, es, text, params, environment);
    return;
  }
  Judgements* judgements = begin_judging();
  Judgements* before = set_judging(judgements);
  PG_TRY();
  {
    next(query, cursor_options, into, es, text, params, environment);
  }
  PG_FINALLY();
  {
    set_judging(before);
  }
  PG_END_TRY();
  print(judgements->lines, es);
}

}  // namespace

void install_explain_hook() {
  next_explain_hook = ExplainOneQuery_hook;
  ExplainOneQuery_hook = on_explain;
}

}  // namespace strom::pg::planner
