// Scans of store tables by PostgreSQL's executor. May ereport.
#include "pg/fdw_gstore/callbacks.hpp"
#include "pg/fdw_gstore/key_clause.hpp"
#include "pg/fdw_gstore/plan_private.hpp"
#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/fdw_gstore/store_scan.hpp"
#include "pg/compat/explain.hpp"
#include "pg/store/change.hpp"
#include "pg/store/visibility.hpp"

namespace store = strom::pg::store;
namespace gstore = strom::pg::fdw_gstore;

namespace {

constexpr uint32_t kBits = 64;

using gstore::StoreScan;

using gstore::scan_of;

void find_wanted(const ForeignScan* plan, StoreScan* scan) {
  const store::Table* table = scan->table;
  Bitmapset* attributes = nullptr;
  pull_varattnos(reinterpret_cast<Node*>(plan->scan.plan.targetlist), plan->scan.scanrelid, &attributes);
  pull_varattnos(reinterpret_cast<Node*>(plan->scan.plan.qual), plan->scan.scanrelid, &attributes);
  pull_varattnos(reinterpret_cast<Node*>(plan->fdw_recheck_quals), plan->scan.scanrelid, &attributes);
  const bool all = bms_is_member(0 - FirstLowInvalidHeapAttributeNumber, attributes);
  scan->wanted = static_cast<bool*>(palloc(table->columns.size() * sizeof(bool)));
  for (size_t i = 0; i < table->columns.size(); ++i)
    scan->wanted[i] = all || bms_is_member(table->columns[i].attnum - FirstLowInvalidHeapAttributeNumber, attributes);
}

void restart(StoreScan* scan) {
  scan->is_ready = false;
  scan->key_count = scan->next_key = 0;
  scan->last = store::rows::kNoSlot;
  scan->used = scan->table->rows->used_slots();
  scan->chunk = 0;
  scan->word = scan->words = 0;
  scan->left = 0;
}

/// Removes repeated keys, which stand for one row. Compares all pairs, so it only does so for few keys.
void drop_repeated_keys(StoreScan* scan, const Oid type) {
  int16 length;
  bool by_value;
  get_typlenbyval(type, &length, &by_value);
  int kept = 0;
  constexpr int kMostCompared = 64;
  for (int i = 0; i < scan->key_count; ++i) {
    if (scan->null_keys[i]) continue;
    bool repeated = false;
    for (int j = 0; j < kept && scan->key_count <= kMostCompared; ++j)
      repeated = repeated || datumIsEqual(scan->keys[i], scan->keys[j], by_value, length);
    if (!repeated) scan->keys[kept++] = scan->keys[i];
  }
  scan->key_count = kept;
}

int compare_datums(const void* left, const void* right, void* argument) {
  const auto* scan = static_cast<const StoreScan*>(argument);
  const store::StoreColumn& column = scan->table->key_column();
  store::CellSpace spaces[2];
  store::rows::Cell cells[2];
  const bool has_left = gstore::key_cell(column, scan->type, *static_cast<const Datum*>(left), &spaces[0], &cells[0]);
  const bool has_right = gstore::key_cell(column, scan->type, *static_cast<const Datum*>(right), &spaces[1], &cells[1]);
  if (!has_left || !has_right) return static_cast<int>(has_left) - static_cast<int>(has_right);
  return cells[0].view().compare(cells[1].view());
}

/// Removes repeated keys if there are many: sorts them first.
void drop_many_repeated_keys(StoreScan* scan) {
  constexpr int kMostCompared = 64;
  if (scan->key_count <= kMostCompared) return;
  qsort_arg(scan->keys, static_cast<size_t>(scan->key_count), sizeof(Datum), compare_datums, scan);
  int kept = 1;
  for (int i = 1; i < scan->key_count; ++i)
    if (compare_datums(&scan->keys[kept - 1], &scan->keys[i], scan) != 0) scan->keys[kept++] = scan->keys[i];
  scan->key_count = kept;
}

void evaluate_key(ForeignScanState* node, StoreScan* scan) {
  bool is_null;
  // Allocated in the row's memory: next_by_key() uses it before the next row.
  scan->single = ExecEvalExpr(scan->value, node->ss.ps.ps_ExprContext, &is_null);
  scan->keys = &scan->single;
  scan->key_count = is_null ? 0 : 1;
}

void evaluate_keys(ForeignScanState* node, StoreScan* scan) {
  scan->is_ready = true;
  scan->next_key = scan->key_count = 0;
  if (!scan->is_array) return evaluate_key(node, scan);
  if (scan->key_memory == nullptr)
    scan->key_memory =
        AllocSetContextCreate(node->ss.ps.state->es_query_cxt, "keys of a store table", ALLOCSET_SMALL_SIZES);
  MemoryContextReset(scan->key_memory);
  MemoryContext before = MemoryContextSwitchTo(scan->key_memory);
  bool is_null;
  const Datum value = ExecEvalExpr(scan->value, node->ss.ps.ps_ExprContext, &is_null);
  if (!is_null) {
    ArrayType* array = DatumGetArrayTypeP(value);
    int16 length;
    bool by_value;
    char align;
    get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
    deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &scan->keys, &scan->null_keys,
                      &scan->key_count);
    drop_repeated_keys(scan, ARR_ELEMTYPE(array));
    drop_many_repeated_keys(scan);
  }
  MemoryContextSwitchTo(before);
}

store::Slot next_by_key(ForeignScanState* node, StoreScan* scan) {
  if (!scan->is_ready) evaluate_keys(node, scan);
  const store::StoreColumn& column = scan->table->key_column();
  const Snapshot snapshot = node->ss.ps.state->es_snapshot;
  if (scan->last != store::rows::kNoSlot) scan->last = store::find_further(scan->table, scan->last, snapshot);
  while (scan->last == store::rows::kNoSlot && scan->next_key < scan->key_count) {
    store::CellSpace space;
    store::rows::Cell cell;
    if (!gstore::key_cell(column, scan->type, scan->keys[scan->next_key++], &space, &cell)) continue;
    scan->last = store::find_by_key(scan->table, cell, snapshot);
  }
  return scan->last;
}

/// Moves to the next chunk with visible rows.
bool next_chunk(const ForeignScanState* node, StoreScan* scan) {
  constexpr Size kBitmapBytes = store::rows::kChunkRows / kBits * sizeof(uint64_t);
  if (scan->bits == nullptr)
    scan->bits = static_cast<uint64_t*>(MemoryContextAlloc(node->ss.ps.state->es_query_cxt, kBitmapBytes));
  const store::rows::Rows& rows = *scan->table->rows;
  for (;; ++scan->chunk) {
    const uint32_t count = rows.used_in(scan->chunk, scan->used);
    if (count == 0) return false;
    CHECK_FOR_INTERRUPTS();
    scan->words = (count + kBits - 1) / kBits;
    if (store::visible_bits(scan->table, scan->chunk, count, node->ss.ps.state->es_snapshot, scan->bits) != 0) break;
  }
  scan->current = scan->chunk++;
  scan->word = 0;
  scan->left = scan->bits[0];
  return true;
}

store::Slot next_of_all(const ForeignScanState* node, StoreScan* scan) {
  for (;;) {
    while (scan->left == 0) {
      if (++scan->word >= scan->words && !next_chunk(node, scan)) return store::rows::kNoSlot;
      if (scan->left == 0) scan->left = scan->bits[scan->word];
    }
    const auto bit = static_cast<uint32_t>(__builtin_ctzll(scan->left));
    scan->left &= scan->left - 1;
    return static_cast<store::Slot>(scan->current * scan->table->layout.chunk_rows + scan->word * kBits + bit);
  }
}

}  // namespace

store::Slot gstore::next_row(ForeignScanState* node, StoreScan* scan) {
  return scan->value != nullptr ? next_by_key(node, scan) : next_of_all(node, scan);
}

void strom_gstore_begin(ForeignScanState* node, int eflags) {
  const auto* plan = castNode(ForeignScan, node->ss.ps.plan);
  auto* scan = static_cast<StoreScan*>(palloc0(sizeof(StoreScan)));
  node->fdw_state = scan;
  if (gstore::is_by_key(plan)) {
    scan->value = ExecInitExpr(linitial_node(Expr, plan->fdw_exprs), &node->ss.ps);
    scan->type = gstore::key_type(plan);
    scan->is_array = gstore::is_key_array(plan);
  }
  if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0) return;
  scan->table = store::open_table(node->ss.ss_currentRelation);
  find_wanted(plan, scan);
  restart(scan);
}

TupleTableSlot* strom_gstore_iterate(ForeignScanState* node) {
  StoreScan* scan = scan_of(node);
  TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
  const store::Slot found = gstore::next_row(node, scan);
  if (found == store::rows::kNoSlot) return ExecClearTuple(slot);
  gstore::fill_slot(scan->table, found, scan->wanted, slot);
  return slot;
}

void strom_gstore_rescan(ForeignScanState* node) { restart(scan_of(node)); }

void strom_gstore_end(ForeignScanState*) {}

void strom_gstore_explain(ForeignScanState* node, ExplainState* es) {
  const auto* plan = castNode(ForeignScan, node->ss.ps.plan);
  if (!gstore::is_by_key(plan)) return;
  List* context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, NIL);
  Node* clause = static_cast<Node*>(linitial(plan->fdw_recheck_quals));
  const bool is_prefixed = strom::pg::compat::explained_tables(es) > 1 || es->verbose;
  ExplainPropertyText("Store Key", psprintf("%s", deparse_expression(clause, context, is_prefixed, false)), es);
}
