// Which part of a heap table a scan reads, if not all of it: the block ranges that BRIN indexes select, or a sample.
// Finds indexes for the filters and estimates their costs. Their paths are PostgreSQL's own bitmap paths, so that
// PostgreSQL plans, runs and explains the look-ups. May ereport.
#include <math.h>

#include "pg/guc/guc.hpp"
#include "pg/planner/costs/cost.hpp"
#include "pg/planner/paths/paths.hpp"
#include "pg/table/table_kind.hpp"

namespace strom::pg::planner {

namespace {

/// A path that makes a bitmap, and the share of pages that it keeps.
struct Candidate {
  Path* path;
  Cost cost;  // of the look-up
  Selectivity left;
};

bool is_constant_for(PlannerInfo* root, Node* operand, const IndexOptInfo* index) {
  return !bms_is_member(static_cast<int>(index->rel->relid), pull_varnos(root, operand)) &&
         !contain_volatile_functions(operand);
}

bool same_collation(const IndexOptInfo* index, int column, Oid collation) {
  return !OidIsValid(index->indexcollations[column]) || index->indexcollations[column] == collation;
}

// Where clocks are set back, a later local time may be an earlier moment. So bounds of one say nothing about the other.
bool turns_local_times(Oid op) {
  Oid left, right;
  op_input_types(op, &left, &right);
  return right == TIMESTAMPTZOID && left != TIMESTAMPTZOID;
}

RestrictInfo* match_operator(PlannerInfo* root, RestrictInfo* info, IndexOptInfo* index, int column) {
  const auto* op = reinterpret_cast<OpExpr*>(info->clause);
  if (list_length(op->args) != 2 || !same_collation(index, column, op->inputcollid)) return nullptr;
  auto* left = static_cast<Node*>(linitial(op->args));
  auto* right = static_cast<Node*>(lsecond(op->args));
  const Oid family = index->opfamily[column];
  if (match_index_to_operand(left, column, index))
    return is_constant_for(root, right, index) && op_in_opfamily(op->opno, family) && !turns_local_times(op->opno)
               ? info
               : nullptr;
  if (!match_index_to_operand(right, column, index) || !is_constant_for(root, left, index)) return nullptr;
  const Oid commuted = get_commutator(op->opno);
  return OidIsValid(commuted) && op_in_opfamily(commuted, family) && !turns_local_times(commuted)
             ? commute_restrictinfo(info, commuted)
             : nullptr;
}

/// The clause in the form that the index supports, or nullptr.
RestrictInfo* match_clause(PlannerInfo* root, RestrictInfo* info, IndexOptInfo* index, int column) {
  auto* clause = reinterpret_cast<Node*>(info->clause);
  if (info->pseudoconstant || !restriction_is_securely_promotable(info, index->rel)) return nullptr;
  if (IsA(clause, OpExpr)) return match_operator(root, info, index, column);
  if (IsA(clause, ScalarArrayOpExpr)) {
    const auto* op = reinterpret_cast<ScalarArrayOpExpr*>(clause);
    const bool matches = op->useOr && match_index_to_operand(static_cast<Node*>(linitial(op->args)), column, index) &&
                         is_constant_for(root, static_cast<Node*>(lsecond(op->args)), index) &&
                         same_collation(index, column, op->inputcollid) &&
                         op_in_opfamily(op->opno, index->opfamily[column]) && !turns_local_times(op->opno);
    return matches ? info : nullptr;
  }
  if (IsA(clause, NullTest) && index->amsearchnulls) {
    const auto* test = reinterpret_cast<NullTest*>(clause);
    return !test->argisrow && match_index_to_operand(reinterpret_cast<Node*>(test->arg), column, index) ? info
                                                                                                        : nullptr;
  }
  return nullptr;
}

/// A look-up by all `clauses` that the index supports; nullptr when it supports none.
Path* index_path(PlannerInfo* root, IndexOptInfo* index, List* clauses) {
  List* taken = NIL;
  for (int column = 0; column < index->nkeycolumns; ++column) {
    ListCell* cell;
    foreach (cell, clauses) {
      auto* info = static_cast<RestrictInfo*>(lfirst(cell));
      RestrictInfo* matched = match_clause(root, info, index, column);
      if (matched == nullptr) continue;
      auto* one = makeNode(IndexClause);
      one->rinfo = info;
      one->indexquals = list_make1(matched);
      one->indexcol = static_cast<AttrNumber>(column);
      taken = lappend(taken, one);
    }
  }
  if (taken == NIL) return nullptr;
  return reinterpret_cast<Path*>(
      create_index_path(root, index, taken, NIL, NIL, NIL, ForwardScanDirection, false, nullptr, 1.0, false));
}

Candidate priced(Path* path) {
  Candidate candidate = {path, 0, 1};
  cost_bitmap_tree_node(path, &candidate.cost, &candidate.left);
  return candidate;
}

double pages_left(const EngineScan* scan, Selectivity left) {
  return fmin(scan->stored.pages, ceil(scan->stored.pages * left));
}

// The fewer pages are kept, the farther they are from each other. Computed like cost_bitmap_heap_scan().
Cost price(const EngineScan* scan, const Candidate& candidate) {
  double random_page_cost, sequential_page_cost;
  get_tablespace_page_costs(scan->rel->reltablespace, &random_page_cost, &sequential_page_cost);
  const double pages = pages_left(scan, candidate.left);
  const double each = random_page_cost - (random_page_cost - sequential_page_cost) * sqrt(pages / scan->stored.pages);
  return candidate.cost + pages * page_cost(scan, each);
}

bool find_ranges(PlannerInfo* root, const EngineScan* scan, List* clauses, Candidate* best);

/// A path for `a OR b`; each arm needs a look-up.
Path* or_path(PlannerInfo* root, const EngineScan* scan, const RestrictInfo* info) {
  List* arms = NIL;
  ListCell* cell;
  foreach (cell, reinterpret_cast<BoolExpr*>(info->orclause)->args) {
    auto* arm = static_cast<Node*>(lfirst(cell));
    List* clauses = is_andclause(arm) ? reinterpret_cast<BoolExpr*>(arm)->args : list_make1(arm);
    Candidate found;
    if (!find_ranges(root, scan, clauses, &found)) return nullptr;
    arms = lappend(arms, found.path);
  }
  return reinterpret_cast<Path*>(create_bitmap_or_path(root, scan->rel, arms));
}

bool is_usable(const IndexOptInfo* index) {
  return index->relam == BRIN_AM_OID && index->amhasgetbitmap && (index->indpred == NIL || index->predOK);
}

bool has_usable_index(const RelOptInfo* rel) {
  ListCell* cell;
  foreach (cell, rel->indexlist)
    if (is_usable(static_cast<IndexOptInfo*>(lfirst(cell)))) return true;
  return false;
}

/// Finds the best look-up for `clauses` (of RestrictInfo), all of which must hold. Combines several indexes if that
/// pays off.
bool find_ranges(PlannerInfo* root, const EngineScan* scan, List* clauses, Candidate* best) {
  List* paths = NIL;
  ListCell* cell;
  foreach (cell, scan->rel->indexlist) {
    auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
    if (!is_usable(index)) continue;
    if (Path* path = index_path(root, index, clauses)) paths = lappend(paths, path);
  }
  foreach (cell, clauses) {
    auto* info = static_cast<RestrictInfo*>(lfirst(cell));
    if (!restriction_is_or_clause(info) || !restriction_is_securely_promotable(info, scan->rel)) continue;
    if (Path* path = or_path(root, scan, info)) paths = lappend(paths, path);
  }
  List* combined = NIL;
  while (paths != NIL) {
    Candidate next = {};
    Path* added = nullptr;
    foreach (cell, paths) {
      auto* path = static_cast<Path*>(lfirst(cell));
      List* both = lappend(list_copy(combined), path);
      const Candidate candidate =
          priced(combined == NIL ? path : reinterpret_cast<Path*>(create_bitmap_and_path(root, scan->rel, both)));
      if (added != nullptr && price(scan, next) <= price(scan, candidate)) continue;
      next = candidate;
      added = path;
    }
    if (combined != NIL && price(scan, *best) <= price(scan, next)) break;
    *best = next;
    combined = lappend(combined, added);
    paths = list_delete_ptr(paths, added);
  }
  return combined != NIL;
}

}  // namespace

void choose_block_ranges(PlannerInfo* root, EngineScan* scan) {
  if (!guc::pg_strom::enable_brin || scan->stored.pages == 0 || !table::kind(scan->kind).has_blocks()) return;
  if (!has_usable_index(scan->rel)) return;
  Candidate best;
  if (!find_ranges(root, scan, scan->rel->baserestrictinfo, &best)) return;
  EngineScan pruned = *scan;
  pruned.chooser = reinterpret_cast<Path*>(create_bitmap_heap_path(root, scan->rel, best.path, nullptr, 1.0, 0));
  pruned.chosen_cost = price(scan, best);
  pruned.stored.pages = pages_left(scan, best.left);
  pruned.rows_in = fmax(scan->rows_out, clamp_row_est(scan->rows_in * best.left));
  pruned.fallback_rows = fmin(scan->fallback_rows, pruned.rows_in);
  EngineInput whole = {}, part = {};
  whole.scan = scan;
  part.scan = &pruned;
  cost_scan(&whole);
  cost_scan(&part);
  if (part.run < whole.run) *scan = pruned;
}

void choose_sample(PlannerInfo* root, EngineScan* scan, const TableSampleClause* sample) {
  double random_page_cost, sequential_page_cost;
  get_tablespace_page_costs(scan->rel->reltablespace, &random_page_cost, &sequential_page_cost);
  scan->chooser = create_samplescan_path(root, scan->rel, nullptr);
  scan->chosen_cost = scan->stored.pages * (sample->tsmhandler == F_SYSTEM ? random_page_cost : sequential_page_cost);
}

}  // namespace strom::pg::planner
