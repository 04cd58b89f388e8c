// What the engine computes of a statement that is explained, and why not: noted while the statement is planned, for
// EXPLAIN's lines `Not Offloaded` and for pgstrom.explain_support(). Nothing is noted otherwise. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// What an expression is in its query. kLaterOrder: of groups and windows.
enum class QueryPart : int {
  kScan,
  kColumn,
  kFilter,
  kJoin,
  kGroupKey,
  kAggregate,
  kHaving,
  kWindow,
  kOutput,
  kOrder,
  kLaterOrder
};

/// "filter", "group key".
const char* part_name(QueryPart part);

/// An expression, or a table or join as a whole.
struct Judgement {
  QueryPart part;
  const char* text;
  const char* reason;  // why PostgreSQL evaluates it; nullptr: the engine can
  List* tables;        // of Alias*, RangeTblEntry::eref of the tables that it is of
  const void* root;    // the PlannerInfo of the query that it is of
};

/// Of one statement, in the order in which its queries are planned.
struct Judgements {
  MemoryContext memory;
  List* all;      // of Judgement*
  List* members;  // of Alias*: of partitions and inheritance children, pairwise with
  List* parents;  // of Alias*: the tables that they belong to
  List* known;    // of Alias*: tables that the engine could read
  List* joins;    // of Lists of Alias*: tables whose join the engine offers
  List* groups;   // of Judgement*: the aggregations as wholes
  List* roots;  // of PlannerInfo*: queries of the statement; others are PostgreSQL's own, to find a minimum by an index
  List* lines;  // of char*: see not_offloaded(), once the statement is planned
  bool uses_engine;
};

/// For set_judging(), in the memory context at hand.
Judgements* begin_judging();
/// The next statement that is planned is judged. nullptr: none. What was set before.
Judgements* set_judging(Judgements* judgements);
/// The statement that is being planned is judged.
bool is_judging();
/// The statement is planned.
void end_judging(Judgements* judgements, const PlannedStmt* plan);

/// The engine cannot be asked about a table of the statement, for a reason that is its own.
void judge_table(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* rte, const char* statement_reason);
/// Clauses of a join that PostgreSQL has asked for.
void judge_join(PlannerInfo* root, RelOptInfo* joinrel, const JoinPathExtraData* extra, JoinType type);
/// Whether an aggregation of `input_rel` was offered.
void judge_grouping(PlannerInfo* root, RelOptInfo* input_rel);
/// The rest of a query, whose planning is done.
void judge_query(PlannerInfo* root);

/// explain_lines.cpp: what EXPLAIN shows of `plan`: an item for whatever is not in the engine there. Of char*.
List* not_offloaded(const PlannedStmt* plan, const Judgements* judgements);
/// explain_lines.cpp: whether a node of the engine is in the plan.
bool uses_engine(const PlannedStmt* plan);

/// explain_hook.cpp: adds these lines to EXPLAIN (VERBOSE).
void install_explain_hook();

}  // namespace strom::pg::planner
