#include "pg/fdw_gstore/statement_plans.hpp"

#include "pg/fdw_gstore/bulk_insert.hpp"
#include "pg/fdw_gstore/keyed_change.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::fdw_gstore {

namespace {

planner_hook_type next_hook = nullptr;

PlannedStmt* on_statement(Query* parse, const char* text, int cursor_options, ParamListInfo parameters) {
  const bool is_enabled = guc::pg_strom::enabled;
  PlannedStmt* plan = is_enabled && enable_indexscan ? plan_keyed_change(parse) : nullptr;
  if (plan != nullptr) return plan;
  const bool waits = is_enabled && parse->commandType == CMD_INSERT && !may_see_own_rows(parse);
  plan = next_hook != nullptr ? next_hook(parse, text, cursor_options, parameters)
                              : standard_planner(parse, text, cursor_options, parameters);
  if (is_enabled) replace_insert(plan, waits);
  return plan;
}

}  // namespace

void install_statement_plans() {
  register_keyed_change();
  register_bulk_insert();
  next_hook = planner_hook;
  planner_hook = on_statement;
}

}  // namespace strom::pg::fdw_gstore
