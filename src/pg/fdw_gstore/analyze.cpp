// ANALYZE of store tables: a sample of visible rows. May ereport.
#include "pg/fdw_gstore/callbacks.hpp"
#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/store/visibility.hpp"

namespace store = strom::pg::store;
namespace gstore = strom::pg::fdw_gstore;

namespace {

constexpr uint32_t kBits = 64;

/// Reservoir sampling (J. Vitter's algorithm R) over all visible rows.
int acquire_sample(Relation relation, int, HeapTuple* rows, int target, double* total, double* dead) {
  store::Table* table = store::open_table(relation);
  const uint32_t used = table->rows->used_slots();
  auto* sample = static_cast<store::Slot*>(palloc(static_cast<Size>(target) * sizeof(store::Slot)));
  auto* bits = static_cast<uint64_t*>(palloc(store::rows::kChunkRows / kBits * sizeof(uint64_t)));
  Snapshot snapshot = GetActiveSnapshot();
  uint64_t seen = 0;
  for (uint64_t chunk = 0; table->rows->used_in(chunk, used) != 0; ++chunk) {
    vacuum_delay_point(
#if PG_VERSION_NUM >= 180000
        true
#endif
    );
    const uint32_t count = table->rows->used_in(chunk, used);
    if (store::visible_bits(table, chunk, count, snapshot, bits) == 0) continue;
    for (uint32_t i = 0; i < count; ++i) {
      if ((bits[i / kBits] >> (i % kBits) & 1) == 0) continue;
      const auto slot = static_cast<store::Slot>(chunk * table->layout.chunk_rows + i);
      const uint64_t at =
          seen < static_cast<uint64_t>(target) ? seen : pg_prng_uint64_range(&pg_global_prng_state, 0, seen);
      if (at < static_cast<uint64_t>(target)) sample[at] = slot;
      ++seen;
    }
  }
  const int count = static_cast<int>(std::min(seen, static_cast<uint64_t>(target)));
  TupleTableSlot* slot = MakeSingleTupleTableSlot(RelationGetDescr(relation), &TTSOpsVirtual);
  for (int i = 0; i < count; ++i) {
    gstore::fill_slot(table, sample[i], nullptr, slot);
    rows[i] = ExecCopySlotHeapTuple(slot);
  }
  ExecDropSingleTupleTableSlot(slot);
  *total = static_cast<double>(seen);
  *dead = 0;
  return count;
}

}  // namespace

bool strom_gstore_analyze(Relation relation, AcquireSampleRowsFunc* func, BlockNumber* totalpages) {
  const store::Table* table = store::open_table(relation);
  const double bytes = static_cast<double>(table->layout.chunk_bytes) / table->layout.chunk_rows *
                       static_cast<double>(table->shared->row_count);
  *func = acquire_sample;
  *totalpages = static_cast<BlockNumber>(bytes / BLCKSZ) + 1;
  return true;
}
