// CpuScan: a base relation that the engine reads. May ereport, except for the marked C++ part.
#include <math.h>

#include <algorithm>

#include "engine/op/join/join_limit.hpp"
#include "pg/catalog/referenced_columns.hpp"
#include "pg/guc/guc.hpp"
#include "pg/planner/costs/cost.hpp"
#include "pg/planner/state/expression_size.hpp"
#include "pg/planner/lowering/lower.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"
#include "pg/table/table_kind.hpp"

namespace strom::pg::planner {

namespace {

// Sampling methods that decide by a row's position alone and repeatably.
bool is_known_sample(const RangeTblEntry* rte) {
  const TableSampleClause* sample = rte->tablesample;
  if (sample->tsmhandler != F_BERNOULLI && sample->tsmhandler != F_SYSTEM) return false;
  return rte->relkind != RELKIND_FOREIGN_TABLE &&
         !contain_volatile_functions(reinterpret_cast<Node*>(rte->tablesample));
}

// True for whole rows, and for system columns except tableoid and ctid.
bool wants_more_than_columns(const Bitmapset* attributes) {
  int member = -1;
  while ((member = bms_next_member(attributes, member)) >= 0)
    if (!is_column(member + FirstLowInvalidHeapAttributeNumber)) return true;
  return false;
}

bool is_tid_of(const RelOptInfo* rel, const Node* node) {
  if (!IsA(node, Var)) return false;
  const auto* var = reinterpret_cast<const Var*>(node);
  return var->varno == static_cast<int>(rel->relid) && var->varattno == SelfItemPointerAttributeNumber &&
         var->varlevelsup == 0;
}

bool is_range_operator(Oid operation) {
  return operation == TIDEqualOperator || operation == TIDLessOperator || operation == TIDLessEqOperator ||
         operation == TIDGreaterOperator || operation == TIDGreaterEqOperator;
}

// True if the clause selects rows by their ctid. PostgreSQL reads just their pages, see tidpath.c.
bool selects_tids(const RelOptInfo* rel, Node* clause) {
  List* arguments = NIL;
  if (IsA(clause, OpExpr) && is_range_operator(reinterpret_cast<OpExpr*>(clause)->opno))
    arguments = reinterpret_cast<OpExpr*>(clause)->args;
  else if (IsA(clause, ScalarArrayOpExpr) && reinterpret_cast<ScalarArrayOpExpr*>(clause)->useOr &&
           reinterpret_cast<ScalarArrayOpExpr*>(clause)->opno == TIDEqualOperator)
    arguments = reinterpret_cast<ScalarArrayOpExpr*>(clause)->args;
  if (arguments == NIL || list_length(arguments) != 2) return false;
  auto *left = static_cast<Node*>(linitial(arguments)), *right = static_cast<Node*>(lsecond(arguments));
  Node* other = is_tid_of(rel, left) ? right : is_tid_of(rel, right) ? left : nullptr;
  return other != nullptr && !contain_var_clause(other) && !contain_volatile_functions(other);
}

bool has_tid_filter(const RelOptInfo* rel) {
  ListCell* cell;
  foreach (cell, rel->baserestrictinfo)
    if (selects_tids(rel, reinterpret_cast<Node*>(static_cast<RestrictInfo*>(lfirst(cell))->clause))) return true;
  return false;
}

// Row locks and updates re-evaluate single rows, which a columnar scan cannot do.
bool may_scan(const PlannerInfo* root, const RelOptInfo* rel, const RangeTblEntry* rte) {
  const Query* parse = root->parse;
  if (rte->rtekind != RTE_RELATION || !bms_is_empty(rel->lateral_relids)) return false;
  if (rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_OTHER_MEMBER_REL) return false;
  const bool reads_only = parse->commandType == CMD_SELECT || parse->commandType == CMD_INSERT;
  return reads_only && root->rowMarks == NIL && !has_tid_filter(rel) &&
         (rte->tablesample == nullptr || is_known_sample(rte));
}

}  // namespace

const char* why_not_scanned(const PlannerInfo* root, const RelOptInfo* rel, const RangeTblEntry* rte) {
  const CmdType command = root->parse->commandType;
  if (command != CMD_SELECT && command != CMD_INSERT) return "its rows are to be changed";
  if (root->rowMarks != NIL) return "rows of the query are locked";
  if (!bms_is_empty(rel->lateral_relids)) return "it depends on other tables of the query";
  if (rte->tablesample != nullptr && !is_known_sample(rte)) return "the sampling method is not the engine's";
  if (has_tid_filter(rel)) return "conditions on ctid are PostgreSQL's scans by tid";
  if (wants_more_than_columns(catalog::referenced_attributes(const_cast<RelOptInfo*>(rel))))
    return "a system column or the whole row is needed";
  return nullptr;
}

namespace {

bool all_readable(const EngineScan* scan, const void* exprs) {
  List* vars = pull_var_clause(const_cast<Node*>(static_cast<const Node*>(exprs)), PVC_RECURSE_PLACEHOLDERS);
  ListCell* cell;
  foreach (cell, vars) {
    const auto* var = static_cast<Var*>(lfirst(cell));
    if (!is_column(var->varattno) || !facts_of(scan, var->varattno)->readable) return false;
  }
  return true;
}

struct PricedClause {
  RestrictInfo* clause;
  Cost cost;
  int place;  // its position in the query
};

int compare_clauses(const void* left, const void* right) {
  const auto *a = static_cast<const PricedClause*>(left), *b = static_cast<const PricedClause*>(right);
  if (a->clause->security_level != b->clause->security_level)
    return a->clause->security_level < b->clause->security_level ? -1 : 1;
  if (a->cost != b->cost) return a->cost < b->cost ? -1 : 1;
  return a->place - b->place;
}

// Orders clauses like order_qual_clauses() of createplan.c: by security level, then by cost.
List* evaluation_order(PlannerInfo* root, List* clauses) {
  const int count = list_length(clauses);
  if (count < 2) return clauses;
  auto* priced = static_cast<PricedClause*>(palloc(sizeof(PricedClause) * static_cast<Size>(count)));
  for (int i = 0; i < count; ++i) {
    auto* clause = static_cast<RestrictInfo*>(list_nth(clauses, i));
    QualCost cost;
    cost_qual_eval_node(&cost, reinterpret_cast<Node*>(clause), root);
    priced[i] = {clause, cost.per_tuple, i};
  }
  qsort(priced, static_cast<size_t>(count), sizeof(PricedClause), compare_clauses);
  List* ordered = NIL;
  for (int i = 0; i < count; ++i) ordered = lappend(ordered, priced[i].clause);
  return ordered;
}

void leave_to_host(EngineScan* scan, RestrictInfo* clause, const char* reason) {
  scan->host_quals = lappend(scan->host_quals, clause);
  scan->refusals = lappend(scan->refusals, make_refusal(reinterpret_cast<Node*>(clause->clause), reason));
}

void split_filters(PlannerState* state, EngineScan* scan) {
  Index lowest_host = PG_UINT32_MAX;
  List* lowered = NIL;
  List* memberships = NIL;
  ListCell* cell;
  foreach (cell, scan->rel->baserestrictinfo) {
    auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    if (clause->pseudoconstant) {
      scan->gated = true;
      continue;
    }
    int operations = 0;
    const char* reason = why_not_lowered(state, reinterpret_cast<Node*>(clause->clause), &operations);
    const bool has_room = list_length(memberships) < static_cast<int>(engine::op::kMostJoins);
    EngineMembership* membership = reason != nullptr && has_room ? membership_of(state, clause) : nullptr;
    if (membership != nullptr) {
      memberships = lappend(memberships, membership);
      lowered = lappend(lowered, clause);
    } else if (reason != nullptr) {
      leave_to_host(scan, clause, reason);
      if (clause->security_level < lowest_host) lowest_host = clause->security_level;
    } else {
      lowered = lappend(lowered, clause);
    }
  }
  foreach (cell, lowered) {
    auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    if (clause->security_level > lowest_host && !clause->leakproof) {
      leave_to_host(scan, clause, "above a security barrier that stays with PostgreSQL");
      continue;
    }
    (void)why_not_lowered(state, reinterpret_cast<Node*>(clause->clause), &scan->operations);
    scan->quals = lappend(scan->quals, clause);
  }
  foreach (cell, memberships)
    if (list_member_ptr(scan->quals, static_cast<EngineMembership*>(lfirst(cell))->clause))
      scan->memberships = lappend(scan->memberships, lfirst(cell));
  scan->quals = evaluation_order(state->root, scan->quals);
  scan->host_quals = evaluation_order(state->root, scan->host_quals);
}

}  // namespace

EngineScan* make_scan(RelOptInfo* rel, const RangeTblEntry* rte) {
  auto* scan = static_cast<EngineScan*>(palloc0(sizeof(EngineScan)));
  scan->rel = rel;
  scan->table = rte->relid;
  scan->kind = table::kNoKind;
  scan->column_count = rel->max_attr;
  scan->columns = static_cast<ColumnFacts*>(palloc0(sizeof(ColumnFacts) * static_cast<Size>(rel->max_attr + 2)));
  return scan;
}

void describe(EngineScan* scan, table::KindNumber kind, const Bitmapset* attributes, int asked_pages) {
  table::PlannedTable table{scan->rel, scan->table, scan->columns, {}};
  table::kind(kind).describe(&table, attributes, asked_pages);
  scan->kind = kind;
  scan->stored = table.estimate;
  scan->rows_in = scan->stored.rows;
  if (scan->stored.pages == 0) return;
  double random_page_cost, sequential_page_cost;
  get_tablespace_page_costs(scan->rel->reltablespace, &random_page_cost, &sequential_page_cost);
  scan->read_cost = read_cost(scan, sequential_page_cost);
}

namespace {

// Splits the filters. Returns why the engine cannot scan, or nullptr.
const char* split_scan(PlannerState* state, EngineScan* scan) {
  constexpr const char* kUnreadable = "a column that is needed cannot be read";
  constexpr const char* kTooLarge = "its filters are too large for the rows that are expected";
  if (list_length(scan->rel->reltarget->exprs) > kMostColumns) return "too many columns are needed";
  if (!all_readable(scan, scan->rel->reltarget->exprs)) return kUnreadable;
  scan->weight = weight_of(scan->rel->baserestrictinfo, most_weight(state));
  if (scan->weight > most_weight(state)) return kTooLarge;
  split_filters(state, scan);
  if (scan->operations > kMostOperations) return kTooLarge;
  // PostgreSQL evaluates these filters on the rows that the engine returns.
  if (!all_readable(scan, extract_actual_clauses(scan->host_quals, false))) return kUnreadable;
  return nullptr;
}

bool finish_scan(PlannerState* state, EngineScan* scan) {
  scan->refusal = split_scan(state, scan);
  scan->output_readable = scan->refusal == nullptr;
  return scan->output_readable;
}

void estimate_rows(PlannerInfo* root, EngineScan* scan) {
  const RelOptInfo* rel = scan->rel;
  if (scan->rows_in < rel->rows) scan->rows_in = rel->rows;
  List* quals = NIL;
  ListCell* cell;
  foreach (cell, scan->quals)
    if (!is_membership(scan, lfirst(cell))) quals = lappend(quals, lfirst(cell));
  // A parent often has no statistics of its own, but the estimate already used those of its children.
  if (scan->leaves != NIL && scan->host_quals == NIL && scan->memberships == NIL)
    scan->rows_out = rel->rows;
  else
    scan->rows_out =
        clamp_row_est(scan->rows_in * clauselist_selectivity(root, quals, rel->relid, JOIN_INNER, nullptr));
}

bool reads_out_of_line(const EngineScan* scan, const RestrictInfo* clause) {
  ListCell* cell;
  foreach (cell, pull_var_clause(reinterpret_cast<Node*>(clause->clause), PVC_RECURSE_PLACEHOLDERS)) {
    const auto* var = static_cast<Var*>(lfirst(cell));
    if (facts_of(scan, var->varattno)->out_of_line) return true;
  }
  return false;
}

// Estimates the fallback rows: rows that pass the filters which need no out-of-line values.
void estimate_fallback(PlannerInfo* root, EngineScan* scan) {
  if (scan->stored.out_of_line == 0) return;
  List* others = NIL;
  ListCell* cell;
  foreach (cell, scan->quals) {
    auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    if (!reads_out_of_line(scan, clause)) others = lappend(others, clause);
  }
  scan->fallback_rows = scan->rows_in * scan->stored.out_of_line *
                        clauselist_selectivity(root, others, scan->rel->relid, JOIN_INNER, nullptr);
}

void offer(PlannerInfo* root, EngineScan* scan, bool has_columns) {
  estimate_rows(root, scan);
  estimate_fallback(root, scan);
  RelOptInfo* rel = scan->rel;
  // In chunks that statistics rule out, hardly any row passes the filters.
  if (const double left = scan->leaves == NIL ? table::kind(scan->kind).rows_left(rel) : -1; left >= 0) {
    scan->rows_out = fmin(scan->rows_out, clamp_row_est(left));
    scan->rows_in = fmax(scan->rows_out, left);
  }
  if (const TableSampleClause* sample = root->simple_rte_array[rel->relid]->tablesample)
    choose_sample(root, scan, sample);
  else if (scan->leaves == NIL)
    choose_block_ranges(root, scan);
  auto* input = static_cast<EngineInput*>(palloc0(sizeof(EngineInput)));
  input->relids = rel->relids;
  input->scan = scan;
  input->rows = scan->rows_out;
  input->host_quals = scan->host_quals;
  cost_qual_eval(&input->host_cost, input->host_quals, root);
  input->operations = scan->operations;
  input->weight = scan->weight;
  cost_scan(input);
  join_memberships(root, input);
  remember(make_state(root), input);
  if (!guc::pg_strom::enable_gpuscan || !has_columns) return;  // a scan without columns returns no rows
  add_path(rel, reinterpret_cast<Path*>(make_engine_path(rel, rel->reltarget, input, nullptr)));
}

// The scan of all leaves below `parent`, or nullptr when each leaf is scanned separately.
EngineScan* scan_of_leaves(PlannerInfo* root, Index parent) {
  RelOptInfo* rel = root->simple_rel_array[parent];
  const RangeTblEntry* rte = root->simple_rte_array[parent];
  if (!rte->inh || rte->tablesample != nullptr || !may_scan(root, rel, rte) || IS_DUMMY_REL(rel)) return nullptr;
  PlannerState* state = make_state(root);
  if (bms_is_member(static_cast<int>(parent), state->judged_parents)) return scan_of(state, parent);
  state->judged_parents = bms_add_member(state->judged_parents, static_cast<int>(parent));
  const Bitmapset* attributes = catalog::referenced_attributes(rel);
  if (wants_more_than_columns(attributes)) return nullptr;
  EngineScan* scan = append_scan(state, parent, attributes);
  if (scan == nullptr) return nullptr;
  state->scans[parent] = scan;  // filters refer to it
  if (!finish_scan(state, scan)) {
    state->scans[parent] = nullptr;
    forget_judgements(state);
  }
  return scan_of(state, parent);
}

// True if paths of single leaves are needed besides the scan of all leaves. PostgreSQL drops the paths of a partitioned
// table that is alone in a query, and makes new ones from the paths of its partitions, with the query's outputs. It
// also joins or aggregates partition by partition.
bool wants_leaf_paths(const PlannerInfo* root, Index parent) {
  if (bms_is_empty(catalog::referenced_attributes(root->simple_rel_array[parent]))) return false;  // see offer()
  return enable_partitionwise_join || enable_partitionwise_aggregate ||
         bms_equal(root->all_baserels, root->simple_rel_array[parent]->relids);
}

// Copies the judgement of the parent's filters to `leaf`, which has the same filters; false when they differ.
bool take_filters_over(const EngineScan* parent, EngineScan* leaf) {
  const List* judged = parent->rel->baserestrictinfo;
  const int count = list_length(judged);
  if (parent->host_quals != NIL || parent->memberships != NIL || count != list_length(leaf->rel->baserestrictinfo))
    return false;
  if (count == 0) return true;
  int place = -1;  // most filters are in the order of the query
  ListCell* cell;
  foreach (cell, parent->quals) {
    do place = (place + 1) % count;
    while (list_nth(judged, place) != lfirst(cell));
    leaf->quals = lappend(leaf->quals, list_nth(leaf->rel->baserestrictinfo, place));
  }
  leaf->operations = parent->operations;
  leaf->weight = parent->weight;
  leaf->gated = parent->gated;
  leaf->output_readable = true;
  return true;
}

// True for a small table that is alone in its query, if starting the engine costs more than PostgreSQL's evaluation of
// any expressions that could be lowered. Some statements have very many expressions, and this saves judging them.
bool is_beneath_notice(const PlannerInfo* root, const RelOptInfo* rel) {
  if (!bms_equal(root->all_baserels, rel->relids)) return false;
  const double rows = std::max(static_cast<double>(rel->tuples), rel->rows);
  const Cost evaluation = rows * (cpu_tuple_cost + ::cpu_operator_cost * most_weight(rows));
  return rel->pages * std::max(seq_page_cost, random_page_cost) + evaluation < guc::pg_strom::cpu_setup_cost;
}

// Offers a scan of one table. `all` is the scan of which it is a leaf, or nullptr.
void offer_table(PlannerInfo* root, RelOptInfo* rel, const RangeTblEntry* rte, const EngineScan* all) {
  const table::KindNumber kind = table::find_kind(rel, rte);
  if (kind == table::kNoKind || (rte->tablesample != nullptr && !table::kind(kind).has_blocks())) return;
  const Bitmapset* attributes = catalog::referenced_attributes(rel);
  if (wants_more_than_columns(attributes)) return;
  const bool has_columns = !bms_is_empty(attributes);
  PlannerState* state = make_state(root);
  EngineScan* scan = all != nullptr ? scan_of(state, rel->relid) : nullptr;
  if (scan == nullptr || !take_filters_over(all, scan)) {
    scan = make_scan(rel, rte);
    describe(scan, kind, attributes);
    state->scans[rel->relid] = scan;
    if (!finish_scan(state, scan)) return;
  }
  offer(root, scan, has_columns);
}

}  // namespace

void offer_scan(PlannerInfo* root, RelOptInfo* rel, Index relid, RangeTblEntry* rte, bool tells_all) {
  if (!may_scan(root, rel, rte)) return;
  if (!tells_all && is_beneath_notice(root, rel)) return;
  const Index parent = topmost_parent(root, relid);
  EngineScan* all = rte->inh || parent != relid ? scan_of_leaves(root, parent) : nullptr;
  if (rte->inh) {
    if (all != nullptr && parent == relid) offer(root, all, !bms_is_empty(catalog::referenced_attributes(rel)));
  } else if (all == nullptr || wants_leaf_paths(root, parent)) {
    offer_table(root, rel, rte, all);
  }
}

}  // namespace strom::pg::planner
