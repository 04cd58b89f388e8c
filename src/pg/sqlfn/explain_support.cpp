// The SQL function pgstrom.explain_support(), see sql/explain_support.sql. Plans a query as EXPLAIN does, and returns
// what was noted during planning (planner/judgement/judgement.hpp).
#include <cmath>
#include <utility>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/planner/costs/cost.hpp"
#include "pg/planner/judgement/judgement.hpp"

extern "C" {
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"
}

namespace boundary = strom::pg::boundary;
namespace guc = strom::pg::guc;
using namespace strom::pg::planner;

namespace {

// All functions here may ereport.

void put_row(ReturnSetInfo* result, const char* part, const char* expression, const char* runs, const char* reason) {
  const char* texts[] = {part, expression, runs, reason};
  Datum values[4];
  bool nulls[4];
  for (int i = 0; i < 4; ++i) {
    nulls[i] = texts[i] == nullptr;
    values[i] = nulls[i] ? Datum{0} : CStringGetTextDatum(texts[i]);
  }
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

// The query that is planned; for EXPLAIN and CREATE TABLE AS it is the query inside. May ereport.
Query* planned_query(Query* query) {
  while (query->commandType == CMD_UTILITY) {
    Node* inner = nullptr;
    if (IsA(query->utilityStmt, ExplainStmt)) inner = reinterpret_cast<ExplainStmt*>(query->utilityStmt)->query;
    if (IsA(query->utilityStmt, CreateTableAsStmt))
      inner = reinterpret_cast<CreateTableAsStmt*>(query->utilityStmt)->query;
    if (inner == nullptr || !IsA(inner, Query))
      ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("the statement has no plan"),
                      errhint("Give a SELECT, INSERT, UPDATE, DELETE or MERGE statement.")));
    query = reinterpret_cast<Query*>(inner);
    if (query->commandType != CMD_UTILITY)
      query = linitial_node(Query, QueryRewrite(static_cast<Query*>(copyObjectImpl(query))));
  }
  return query;
}

// Requires the right to run the query, as EXPLAIN does.
void require_rights(PlannedStmt* plan, const char* text) {
  QueryDesc* desc =
      CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, None_Receiver, nullptr, nullptr, 0);
  ExecutorStart(desc, EXEC_FLAG_EXPLAIN_ONLY);
  ExecutorEnd(desc);
  FreeQueryDesc(desc);
}

PlannedStmt* plan_judged(const Query* query, const char* text, Judgements* judgements) {
  auto* copy = static_cast<Query*>(copyObjectImpl(query));  // the planner changes it
  Judgements* before = set_judging(judgements);
  PlannedStmt* plan = nullptr;
  PG_TRY();
  {
    plan = pg_plan_query(copy, text, CURSOR_OPT_PARALLEL_OK, nullptr);
  }
  PG_FINALLY();
  {
    set_judging(before);
  }
  PG_END_TRY();
  return plan;
}

// PostgreSQL's own methods of reading and joining, all of which the engine may replace.
bool* const kPostgresWays[] = {&enable_seqscan,    &enable_indexscan, &enable_indexonlyscan,
                               &enable_bitmapscan, &enable_tidscan,   &guc::arrow_fdw::enabled,
                               &enable_nestloop,   &enable_mergejoin, &enable_hashjoin};

// The cost of a plan that uses the engine's nodes wherever possible; negative when there are none.
Cost engine_cost(const Query* query, const char* text) {
  bool set[lengthof(kPostgresWays)];
  for (size_t i = 0; i < lengthof(set); ++i) set[i] = std::exchange(*kPostgresWays[i], false);
  const bool compared = set_comparing(true);
  Judgements* judgements = begin_judging();
  PlannedStmt* plan = nullptr;
  PG_TRY();
  {
    plan = plan_judged(query, text, judgements);
  }
  PG_FINALLY();
  {
    set_comparing(compared);
    for (size_t i = 0; i < lengthof(set); ++i) *kPostgresWays[i] = set[i];
  }
  PG_END_TRY();
  if (!judgements->uses_engine) return -1;
  // Before version 18, PostgreSQL adds this cost for each method that is switched off.
  const Cost cost = plan->planTree->total_cost;
  return cost - disable_cost * rint(cost / disable_cost);
}

bool is_readable(const Judgement* judgement) {
  return judgement->part == QueryPart::kScan && judgement->reason == nullptr;
}

const char* why_not_at_all(const Judgements* judgements, const Query* query, const char* text, Cost cost) {
  if (!guc::pg_strom::enabled) return "pg_strom.enabled is off";
  if (guc::pg_strom::device() == guc::DeviceChoice::kOff) return "pg_strom.device is off";
  ListCell* cell;
  bool any = false, hindered = false;
  foreach (cell, judgements->all) {
    const auto* judgement = static_cast<const Judgement*>(lfirst(cell));
    any = any || is_readable(judgement);
    const bool could_be_engines = judgement->part < QueryPart::kHaving || judgement->part == QueryPart::kOrder;
    hindered = hindered || (could_be_engines && judgement->reason != nullptr);
  }
  if (!any) return "there is no table that the engine could read";
  const Cost with_engine = engine_cost(query, text);
  if (with_engine < 0) return "there is no plan with the engine";
  return psprintf("%s (cost in PostgreSQL: %.2f, in the engine: %.2f)",
                  hindered ? "what the engine could do costs more there" : "costs more in the engine", cost,
                  with_engine);
}

bool is_same_text(const char* a, const char* b) {
  return a == b || (a != nullptr && b != nullptr && strcmp(a, b) == 0);
}

// True if an earlier judgement has the same words. PostgreSQL plans some sub-queries twice.
bool is_repeated(const Judgements* judgements, int index) {
  const auto* judgement = static_cast<const Judgement*>(list_nth(judgements->all, index));
  if (!list_member_ptr(judgements->roots, judgement->root)) return true;
  for (int i = 0; i < index; ++i) {
    const auto* earlier = static_cast<const Judgement*>(list_nth(judgements->all, i));
    if (list_member_ptr(judgements->roots, earlier->root) && earlier->part == judgement->part &&
        is_same_text(earlier->text, judgement->text) && is_same_text(earlier->reason, judgement->reason))
      return true;
  }
  return false;
}

void explain(ReturnSetInfo* result, Query* query, const char* text) {
  Judgements* judgements = begin_judging();
  PlannedStmt* plan = plan_judged(query, text, judgements);
  const Cost cost = plan->planTree->total_cost;
  require_rights(plan, text);
  for (int i = 0; i < list_length(judgements->all); ++i) {
    const auto* judgement = static_cast<const Judgement*>(list_nth(judgements->all, i));
    if (!is_repeated(judgements, i))
      put_row(result, part_name(judgement->part), judgement->text,
              judgement->reason == nullptr ? "engine" : "PostgreSQL", judgement->reason);
  }
  const bool in_engine = judgements->uses_engine;
  put_row(result, "plan", nullptr, in_engine ? "engine" : "PostgreSQL",
          in_engine ? nullptr : why_not_at_all(judgements, query, text, cost));
}

}  // namespace

/// pgstrom.explain_support(query text) -> setof (part, expression, runs, reason)
STROM_SQL_FUNCTION(strom_explain_support) {
  boundary::guard([fcinfo] {
    InitMaterializedSRF(fcinfo, 0);
    const char* sql = text_to_cstring(PG_GETARG_TEXT_PP(0));
    ListCell* statement;
    foreach (statement, pg_parse_query(sql)) {
      Oid* types = nullptr;
      int count = 0;
      List* queries = pg_analyze_and_rewrite_varparams(lfirst_node(RawStmt, statement), sql, &types, &count, nullptr);
      ListCell* cell;
      foreach (cell, queries)
        explain(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), planned_query(lfirst_node(Query, cell)), sql);
    }
  });
  return Datum{0};
}
