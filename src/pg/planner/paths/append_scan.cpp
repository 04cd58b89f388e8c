// One scan of all leaves of a partitioned or inherited table. Each leaf must be readable by the engine, with the same
// types of columns. May ereport.
#include <algorithm>

#include "pg/compat/partition_prune.hpp"
#include "pg/planner/paths/paths.hpp"
#include "pg/table/table_kind.hpp"

namespace strom::pg::planner {

namespace {

// PostgreSQL does not expand the children of an excluded child.
bool is_below(const PlannerInfo* root, Index relid, Index parent) {
  while (relid != parent) {
    const AppendRelInfo* child = root->append_rel_array[relid];
    if (child == nullptr || IS_DUMMY_REL(root->simple_rel_array[relid])) return false;
    relid = child->parent_relid;
  }
  return true;
}

Bitmapset* leaf_columns(const PlannerInfo* root, Index leaf, Index parent, const Bitmapset* attributes) {
  Bitmapset* result = nullptr;
  int member = -1;
  while ((member = bms_next_member(attributes, member)) >= 0) {
    const auto attnum = static_cast<AttrNumber>(member + FirstLowInvalidHeapAttributeNumber);
    result = bms_add_member(result, leaf_column(root, leaf, parent, attnum) - FirstLowInvalidHeapAttributeNumber);
  }
  return result;
}

// A column is readable if all leaves can read it, with the same type.
void merge_columns(PlannerInfo* root, EngineScan* scan, const EngineScan* leaf, const Bitmapset* attributes) {
  const bool is_first = scan->leaves == NIL;
  int member = -1;
  while ((member = bms_next_member(attributes, member)) >= 0) {
    const auto attnum = static_cast<AttrNumber>(member + FirstLowInvalidHeapAttributeNumber);
    ColumnFacts* facts = facts_of(scan, attnum);
    const ColumnFacts& own = *facts_of(leaf, leaf_column(root, leaf->rel->relid, scan->rel->relid, attnum));
    if (is_first) {
      *facts = own;
    } else if (facts->readable && !own.readable) {
      *facts = own;
    } else if (facts->readable && !(facts->type == own.type)) {
      facts->readable = false;
      facts->reason = "column is stored differently in different partitions";
    }
    facts->out_of_line = facts->out_of_line || own.out_of_line;
    facts->char_length = std::max(facts->char_length, own.char_length);
  }
}

// With a thousand leaves, one page of each gives a good estimate.
int asked_pages(const EngineScan* scan) {
  constexpr int kAskedOfFew = 64;
  return std::clamp(kAskedOfFew / (1 + list_length(scan->leaves)), 1, kAskedPages);
}

// False when the engine does not read this kind of table.
bool add_leaf(PlannerState* state, EngineScan* scan, Index relid, const Bitmapset* attributes) {
  PlannerInfo* root = state->root;
  RelOptInfo* rel = root->simple_rel_array[relid];
  const RangeTblEntry* rte = root->simple_rte_array[relid];
  const table::KindNumber kind = table::find_kind(rel, rte);
  if (kind == table::kNoKind) return false;
  EngineScan* leaf = make_scan(rel, rte);
  describe(leaf, kind, leaf_columns(root, relid, scan->rel->relid, attributes), asked_pages(scan));
  merge_columns(root, scan, leaf, attributes);
  state->scans[relid] = leaf;
  scan->leaves = lappend_int(scan->leaves, static_cast<int>(relid));
  scan->leaf_tables = lappend_oid(scan->leaf_tables, leaf->table);
  scan->leaf_kinds = lappend_int(scan->leaf_kinds, kind);
  scan->rows_in += leaf->rows_in;
  scan->read_cost += leaf->read_cost;
  const table::Estimate& own = leaf->stored;
  table::Estimate& all = scan->stored;  // sums, until all leaves are added
  all.pages += own.pages;
  all.buffered += own.buffered * own.pages;
  all.cached += own.cached * own.pages;
  all.row_form += own.row_form * leaf->rows_in;
  all.out_of_line += own.out_of_line * leaf->rows_in;
  all.may_be_unheld = all.may_be_unheld || own.may_be_unheld;
  return true;
}

// Partitions that PostgreSQL did not even expand count as one each.
int pruned_at_once(RelOptInfo* rel) {
  if (!IS_PARTITIONED_REL(rel)) return 0;
  return rel->nparts - bms_num_members(rel->live_parts);
}

}  // namespace

AttrNumber leaf_column(const PlannerInfo* root, Index leaf, Index parent, AttrNumber attnum) {
  if (attnum < 0) return attnum;  // system columns are the same in all tables
  const AppendRelInfo* child = root->append_rel_array[leaf];
  if (child->parent_relid != parent) attnum = leaf_column(root, child->parent_relid, parent, attnum);
  return list_nth_node(Var, child->translated_vars, attnum - 1)->varattno;
}

// A UNION ALL also has children, but its parent is not a table.
Index topmost_parent(const PlannerInfo* root, Index relid) {
  if (root->append_rel_array == nullptr) return relid;
  while (const AppendRelInfo* child = root->append_rel_array[relid]) {
    if (root->simple_rte_array[child->parent_relid]->rtekind != RTE_RELATION) break;
    relid = child->parent_relid;
  }
  return relid;
}

EngineScan* append_scan(PlannerState* state, Index parent, const Bitmapset* attributes) {
  PlannerInfo* root = state->root;
  EngineScan* scan = make_scan(root->simple_rel_array[parent], root->simple_rte_array[parent]);
  scan->leaf_count = pruned_at_once(scan->rel);
  for (int relid = 1; relid < root->simple_rel_array_size; ++relid) {
    const AppendRelInfo* child = root->append_rel_array[relid];
    if (child == nullptr || topmost_parent(root, static_cast<Index>(relid)) != parent) continue;
    if (root->simple_rte_array[relid]->inh) {
      scan->leaf_count += pruned_at_once(root->simple_rel_array[relid]);
      continue;
    }
    ++scan->leaf_count;
    if (!is_below(root, static_cast<Index>(relid), parent)) continue;
    if (!add_leaf(state, scan, static_cast<Index>(relid), attributes)) return nullptr;
  }
  if (scan->leaves == NIL) return nullptr;
  const auto part_of = [](double sum, double whole) { return whole > 0 ? sum / whole : 0; };
  table::Estimate& all = scan->stored;
  all.buffered = part_of(all.buffered, all.pages);
  all.cached = part_of(all.cached, all.pages);
  all.row_form = part_of(all.row_form, scan->rows_in);
  all.out_of_line = part_of(all.out_of_line, scan->rows_in);
  return scan;
}

PartitionPruneInfo* leaf_pruning(PlannerInfo* root, const EngineScan* scan) {
  List* paths = NIL;
  ListCell* cell;
  foreach (cell, scan->leaves) {
    auto* path = makeNode(Path);
    path->parent = root->simple_rel_array[lfirst_int(cell)];
    paths = lappend(paths, path);
  }
  return compat::make_pruning(root, scan->rel, paths, extract_actual_clauses(scan->rel->baserestrictinfo, false));
}

}  // namespace strom::pg::planner
