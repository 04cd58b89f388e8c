// Planning of scans of store tables: scans of all rows, and scans by key. May ereport.
#include "pg/compat/foreign_path.hpp"
#include "pg/fdw_gstore/callbacks.hpp"
#include "pg/fdw_gstore/key_clause.hpp"
#include "pg/fdw_gstore/plan_private.hpp"

namespace compat = strom::pg::compat;
namespace store = strom::pg::store;
using strom::pg::fdw_gstore::KeyClause;
using strom::pg::fdw_gstore::match_key_clause;

namespace {

/// Content of RelOptInfo::fdw_private.
struct Planned {
  store::Table* table;
};

constexpr double kLookup = 0.1;  // cost of finding a row by its key, relative to cpu_index_tuple_cost

store::Table* table_of(const RelOptInfo* rel) { return static_cast<Planned*>(rel->fdw_private)->table; }

double keys_of(PlannerInfo* root, const KeyClause& match) {
  return match.is_array ? estimate_array_length(
#if PG_VERSION_NUM >= 170000
                              root,
#endif
                              reinterpret_cast<Node*>(match.value))
                        : 1;
}

void add_key_path(PlannerInfo* root, RelOptInfo* rel, RestrictInfo* info, const KeyClause& match, Relids outer) {
  QualCost cost;
  cost_qual_eval(&cost, rel->baserestrictinfo, root);
  const double keys = keys_of(root, match), rows = clamp_row_est(std::min(keys, rel->tuples));
  const Cost total = cost.startup + keys * (cpu_index_tuple_cost + kLookup * cpu_tuple_cost) +
                     rows * (cpu_tuple_cost + cost.per_tuple);
  ForeignPath* path =
      compat::make_foreign_scan_path(root, rel, rows, !enable_indexscan, cost.startup, total, list_make1(info));
  if (!bms_is_empty(outer)) {
    path->path.param_info = get_baserel_parampathinfo(root, rel, outer);
    path->path.rows = std::min(path->path.param_info->ppi_rows, rows);
  }
  add_path(rel, reinterpret_cast<Path*>(path));
}

/// Adds a path for each clause of the list that selects rows by key.
void add_paths_of(PlannerInfo* root, RelOptInfo* rel, List* clauses, bool is_join) {
  ListCell* cell;
  foreach (cell, clauses) {
    auto* info = lfirst_node(RestrictInfo, cell);
    KeyClause match;
    if (is_join && !join_clause_is_movable_to(info, rel)) continue;
    if (!match_key_clause(root, table_of(rel), rel->relid, info->clause, &match)) continue;
    Relids outer = nullptr;
    if (is_join) {
      outer = bms_union(info->clause_relids, rel->lateral_relids);
      outer = bms_del_member(outer, static_cast<int>(rel->relid));
      if (bms_is_empty(outer)) continue;
    }
    add_key_path(root, rel, info, match, outer);
  }
}

/// The clauses that are not equivalent to `match`.
List* other_clauses(PlannerInfo* root, const RelOptInfo* rel, List* clauses, const KeyClause& match) {
  List* others = NIL;
  ListCell* cell;
  foreach (cell, clauses) {
    auto* clause = static_cast<Expr*>(lfirst(cell));
    KeyClause same;
    const bool is_same = match_key_clause(root, table_of(rel), rel->relid, clause, &same) &&
                         same.is_array == match.is_array && equal(same.value, match.value);
    if (!is_same) others = lappend(others, clause);
  }
  return others;
}

/// True if a member of an equivalence class is the key: for generate_implied_equalities_for_column().
bool is_key_member(PlannerInfo*, RelOptInfo* rel, EquivalenceClass*, EquivalenceMember* member, void*) {
  const store::Table* table = table_of(rel);
  Node* node = reinterpret_cast<Node*>(member->em_expr);
  while (IsA(node, RelabelType)) node = reinterpret_cast<Node*>(reinterpret_cast<RelabelType*>(node)->arg);
  if (!IsA(node, Var)) return false;
  const auto* var = reinterpret_cast<Var*>(node);
  return var->varno == static_cast<int>(rel->relid) && var->varattno == table->key_column().attnum;
}

}  // namespace

void strom_gstore_rel_size(PlannerInfo* root, RelOptInfo* baserel, Oid relid) {
  auto* planned = static_cast<Planned*>(palloc0(sizeof(Planned)));
  Relation relation = table_open(relid, NoLock);
  planned->table = store::open_table(relation);
  table_close(relation, NoLock);
  baserel->fdw_private = planned;
  const store::Table* table = planned->table;
  baserel->tuples = static_cast<double>(__atomic_load_n(&table->shared->row_count, __ATOMIC_ACQUIRE));
  const double row_bytes = static_cast<double>(table->layout.chunk_bytes) / table->layout.chunk_rows;
  baserel->pages = static_cast<BlockNumber>(std::min(baserel->tuples * row_bytes / BLCKSZ + 1, double{MaxBlockNumber}));
  set_baserel_size_estimates(root, baserel);
  ListCell* cell;
  foreach (cell, baserel->baserestrictinfo) {
    KeyClause match;
    if (match_key_clause(root, table, baserel->relid, lfirst_node(RestrictInfo, cell)->clause, &match))
      baserel->rows = clamp_row_est(std::min(baserel->rows, keys_of(root, match)));
  }
}

void strom_gstore_paths(PlannerInfo* root, RelOptInfo* baserel, Oid) {
  constexpr double kRowShare = 0.5;  // cheaper than finding the next row in a heap page
  QualCost cost;
  cost_qual_eval(&cost, baserel->baserestrictinfo, root);
  const Cost total = cost.startup + baserel->tuples * (cpu_tuple_cost * kRowShare + cost.per_tuple) +
                     baserel->rows * cpu_tuple_cost * kRowShare;
  add_path(baserel, reinterpret_cast<Path*>(compat::make_foreign_scan_path(root, baserel, baserel->rows,
                                                                           !enable_seqscan, cost.startup, total, NIL)));
  if (table_of(baserel)->key() < 0) return;
  add_paths_of(root, baserel, baserel->baserestrictinfo, false);
  add_paths_of(root, baserel, baserel->joininfo, true);
  if (baserel->has_eclass_joins)
    add_paths_of(
        root, baserel,
        generate_implied_equalities_for_column(root, baserel, is_key_member, nullptr, baserel->lateral_referencers),
        true);
}

/// For joins of partitions: a path by a key that another partitioned table gives.
List* strom_gstore_reparameterize(PlannerInfo* root, List* fdw_private, RelOptInfo* child) {
  return reinterpret_cast<List*>(strom::pg::compat::for_child(root, reinterpret_cast<Node*>(fdw_private), child));
}

ForeignScan* strom_gstore_plan(PlannerInfo* root, RelOptInfo* baserel, Oid, ForeignPath* best_path, List* tlist,
                               List* scan_clauses, Plan* outer_plan) {
  List* clauses = extract_actual_clauses(scan_clauses, false);
  if (best_path->fdw_private == NIL)
    return make_foreignscan(tlist, clauses, baserel->relid, NIL, NIL, NIL, NIL, outer_plan);
  const auto* info = linitial_node(RestrictInfo, best_path->fdw_private);
  KeyClause match;
  if (!match_key_clause(root, table_of(baserel), baserel->relid, info->clause, &match))
    elog(ERROR, "a clause of the key of a store table is none");
  List* rest = other_clauses(root, baserel, clauses, match);
  List* numbers = list_make2(makeInteger(static_cast<int>(match.type)), makeInteger(match.is_array ? 1 : 0));
  return make_foreignscan(tlist, rest, baserel->relid, list_make1(match.value), numbers, NIL, list_make1(info->clause),
                          outer_plan);
}
