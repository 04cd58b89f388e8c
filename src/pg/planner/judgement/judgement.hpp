// Which parts of an explained statement the engine computes, and why not the others. Noted while the statement is
// planned, for EXPLAIN's lines `Not Offloaded` and for pgstrom.explain_support(). Without EXPLAIN nothing is noted.
// May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// The role of an expression in its query. kLaterOrder: ORDER BY over groups or windows.
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

/// The role as text, such as "filter" or "group key".
const char* part_name(QueryPart part);

/// The judgement of an expression, or of a whole table or join.
struct Judgement {
  QueryPart part;
  const char* text;
  const char* reason;  // why PostgreSQL evaluates it; nullptr: the engine can
  List* tables;        // of Alias*: RangeTblEntry::eref of the tables that it refers to
  const void* root;    // the PlannerInfo of its query
};

/// The judgements of one statement, in the order in which its queries are planned.
struct Judgements {
  MemoryContext memory;
  List* all;      // of Judgement*
  List* members;  // of Alias*: partitions and inheritance children
  List* parents;  // of Alias*: the parent of each of `members`
  List* known;    // of Alias*: tables that the engine could read
  List* joins;    // of Lists of Alias*: tables whose join the engine offers
  List* groups;   // of Judgement*: one for each aggregation
  List* roots;    // of PlannerInfo*: the statement's queries; PostgreSQL adds others, to find a minimum by an index
  List* lines;    // of char*: see not_offloaded(); set when the statement is planned
  bool uses_engine;
};

/// Makes an object for set_judging(), in the current memory context.
Judgements* begin_judging();
/// Makes the next statement that is planned be judged; nullptr: none. Returns the previous object.
Judgements* set_judging(Judgements* judgements);
/// True while a statement that is judged is being planned.
bool is_judging();
/// Ends the judgement: the statement is planned.
void end_judging(Judgements* judgements, const PlannedStmt* plan);

/// Notes why the engine does not read a table, if a reason concerns the table as a whole.
void judge_table(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* rte, const char* statement_reason);
/// Judges the clauses of a join that PostgreSQL considers.
void judge_join(PlannerInfo* root, RelOptInfo* joinrel, const JoinPathExtraData* extra, JoinType type);
/// Judges the aggregation of `input_rel`: whether it was offered.
void judge_grouping(PlannerInfo* root, RelOptInfo* input_rel);
/// Judges the rest of a query whose planning has ended.
void judge_query(PlannerInfo* root);

/// explain_lines.cpp: the lines that EXPLAIN shows for `plan`, one for each part that is not in the engine. Of char*.
List* not_offloaded(const PlannedStmt* plan, const Judgements* judgements);
/// explain_lines.cpp: true if the plan has a node of the engine.
bool uses_engine(const PlannedStmt* plan);

/// explain_hook.cpp: installs the hook that adds these lines to EXPLAIN (VERBOSE).
void install_explain_hook();

}  // namespace strom::pg::planner
