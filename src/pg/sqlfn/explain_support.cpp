// The SQL function pgstrom.explain_support(), see sql/explain_support.sql: plans a query, as EXPLAIN does, and tells
// what was noted meanwhile (planner/judgement.hpp).
#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/planner/judgement.hpp"

extern "C" {
#include "rewrite/rewriteHandler.h"
#include "tcop/tcopprot.h"
#include "utils/snapmgr.h"
}

namespace boundary = strom::pg::boundary;
namespace guc = strom::pg::guc;
using namespace strom::pg::planner;

namespace {

// All of this may ereport.

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

// The query that is planned: of EXPLAIN and CREATE TABLE AS the one in them.
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

// As EXPLAIN, which needs the right to run the query.
void require_rights(PlannedStmt* plan, const char* text) {
  QueryDesc* desc =
      CreateQueryDesc(plan, text, GetActiveSnapshot(), InvalidSnapshot, None_Receiver, nullptr, nullptr, 0);
  ExecutorStart(desc, EXEC_FLAG_EXPLAIN_ONLY);
  ExecutorEnd(desc);
  FreeQueryDesc(desc);
}

const char* why_not_at_all(const Judgements* judgements) {
  if (!guc::pg_strom::enabled) return "pg_strom.enabled is off";
  if (guc::pg_strom::device() == guc::DeviceChoice::kOff) return "pg_strom.device is off";
  ListCell* cell;
  bool any = false, hindered = false;
  foreach (cell, judgements->all) {
    const auto* judgement = static_cast<const Judgement*>(lfirst(cell));
    any = any || (judgement->part == QueryPart::kScan && judgement->reason == nullptr);
    const bool could_be_engines = judgement->part < QueryPart::kHaving || judgement->part == QueryPart::kOrder;
    hindered = hindered || (could_be_engines && judgement->reason != nullptr);
  }
  if (!any) return "there is no table that the engine could read";
  return hindered ? "what the engine could do costs more there" : "costs more in the engine";
}

void explain(ReturnSetInfo* result, Query* query, const char* text) {
  Judgements* judgements = begin_judging();
  Judgements* before = set_judging(judgements);
  PlannedStmt* plan = nullptr;
  PG_TRY();
  {
    plan = pg_plan_query(query, text, CURSOR_OPT_PARALLEL_OK, nullptr);
  }
  PG_FINALLY();
  {
    set_judging(before);
  }
  PG_END_TRY();
  require_rights(plan, text);
  ListCell* cell;
  foreach (cell, judgements->all) {
    const auto* judgement = static_cast<const Judgement*>(lfirst(cell));
    put_row(result, part_name(judgement->part), judgement->text, judgement->reason == nullptr ? "engine" : "PostgreSQL",
            judgement->reason);
  }
  const bool in_engine = judgements->uses_engine;
  put_row(result, "plan", nullptr, in_engine ? "engine" : "PostgreSQL",
          in_engine ? nullptr : why_not_at_all(judgements));
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
