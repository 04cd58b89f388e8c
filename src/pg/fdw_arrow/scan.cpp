// Execution of plain foreign scans over Arrow files. Rows are decoded one by one from views of the mapped files. Only
// referenced columns are touched, and PostgreSQL evaluates the conditions. Parallel workers share a counter of chunks.
#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/boundary/context_owned.hpp"
#include "pg/boundary/in_context.hpp"
#include "pg/codec/decode.hpp"
#include "pg/compat/explain.hpp"
#include "pg/pruning/chunk_filter.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/explain/lines.hpp"
#include "pg/files/explain.hpp"
#include "pg/files/source.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::fdw_arrow {

using namespace files;
namespace {

using boundary::entry;

/// The state in the parallel query's shared memory.
struct ParallelScan {
  pg_atomic_uint64 next_chunk, loaded, skipped;
  uint64_t fingerprint;  // of the files that the leader has opened
};

/// The C++ half of a scan.
struct Cursor {
  std::shared_ptr<const Source> source;
  int64_t next_chunk = 0;                        // for scans without ParallelScan
  columnar::BatchView batch;                     // the current chunk
  int current_file = -1;                         // the file of the current chunk
  std::unique_ptr<pruning::ChunkFilter> filter;  // nullptr: statistics are of no use
  std::vector<const Node*> hints;                // conditions of the filter
  bool filter_ready = false;                     // the filter has the values of parameters
  int64_t loaded = 0, skipped = 0;               // chunks; in parallel scans set at the end
};

/// ForeignScanState::fdw_state: plain data.
struct ArrowScan {
  ForeignScanState* node;
  boundary::ContextOwned<Cursor> cursor;
  ParallelScan* parallel;
  codec::Decoder* decoders;  // one for each referenced column
  AttrNumber* attnums;
  codec::RowSite* places;
  MemoryContext decoder_memory;  // for decoders of the current chunk
  int column_count;
  int64_t next_row, rows;                   // in the current chunk
  const format::arrow::FileReader* reader;  // of the current chunk
};

// Rows between two checks whether the file was changed: a cursor may stop in the middle of a chunk. Missing bytes are
// noticed at each row.
constexpr int64_t kRowsBetweenChecks = 64;

std::vector<AttrNumber> attnums_of(const ForeignScan* plan) {
  std::vector<AttrNumber> attnums;
  ListCell* cell;
  foreach (cell, plan->fdw_private) attnums.push_back(static_cast<AttrNumber>(lfirst_int(cell)));
  return attnums;
}

// May throw.
void add_filter(ForeignScanState* node, const ForeignScan* plan, Cursor* cursor) {
  if (!guc::arrow_fdw::stats_hint_enabled) return;
  const Source& source = *cursor->source;
  const auto compile = [node](Node* expr) {
    return boundary::guard([=] { return ExecInitExpr(reinterpret_cast<Expr*>(expr), &node->ss.ps); });
  };
  cursor->filter = std::make_unique<pruning::ChunkFilter>(
      plan->fdw_exprs, [&source](const Var* var) { return source.column_of(var->varattno); }, compile);
  cursor->hints = cursor->filter->useful_clauses(source);
  if (cursor->hints.empty()) cursor->filter.reset();
}

// May throw. Allocates in the query's memory context, which is the current one.
ArrowScan* open_scan(ForeignScanState* node, Oid relid, const ForeignScan* plan, MemoryContext context) {
  auto cursor = std::make_unique<Cursor>();
  cursor->source = Source::open(relid, attnums_of(plan));
  add_filter(node, plan, cursor.get());
  const auto& columns = cursor->source->columns();
  const int count = static_cast<int>(columns.size());
  auto* scan = boundary::guard([context, count] {
    auto* s = static_cast<ArrowScan*>(MemoryContextAllocZero(context, sizeof(ArrowScan)));
    s->decoders = static_cast<codec::Decoder*>(MemoryContextAllocZero(context, sizeof(codec::Decoder) * (count + 1)));
    s->places = static_cast<codec::RowSite*>(MemoryContextAllocZero(context, sizeof(codec::RowSite) * (count + 1)));
    s->decoder_memory = AllocSetContextCreate(context, "arrow_fdw decoders", ALLOCSET_SMALL_SIZES);
    s->attnums = static_cast<AttrNumber*>(MemoryContextAllocZero(context, sizeof(AttrNumber) * (count + 1)));
    return s;
  });
  scan->node = node;
  scan->column_count = count;
  for (int i = 0; i < count; ++i) scan->attnums[i] = columns[i].attnum;
  scan->cursor = boundary::ContextOwned<Cursor>::adopt(context, std::move(cursor));
  return scan;
}

// May throw if the file has changed: the rows so far may be wrong.
void check_current_file(const ArrowScan* scan) {
  const Cursor& cursor = *scan->cursor;
  if (cursor.current_file >= 0) boundary::throw_if_failed(cursor.source->unchanged(cursor.current_file));
}

void count_chunk(ArrowScan* scan, bool skipped) {
  if (scan->parallel != nullptr)
    pg_atomic_fetch_add_u64(skipped ? &scan->parallel->skipped : &scan->parallel->loaded, 1);
  else
    ++(skipped ? scan->cursor->skipped : scan->cursor->loaded);
}

// The next chunk that statistics do not rule out; -1 at the end. May throw.
int64_t take_chunk(ArrowScan* scan) {
  Cursor& cursor = *scan->cursor;
  if (cursor.filter != nullptr && !cursor.filter_ready) cursor.filter->evaluate(scan->node->ss.ps.ps_ExprContext);
  cursor.filter_ready = true;
  for (;;) {
    const auto index =
        static_cast<int64_t>(scan->parallel != nullptr ? pg_atomic_fetch_add_u64(&scan->parallel->next_chunk, 1)
                                                       : static_cast<uint64_t>(cursor.next_chunk++));
    if (index >= static_cast<int64_t>(cursor.source->chunks().size())) return -1;
    const bool skipped = cursor.filter != nullptr && !cursor.filter->may_match(*cursor.source, index);
    count_chunk(scan, skipped);
    if (!skipped) return index;
    boundary::check_for_interrupts();
  }
}

// Binds the decoders to the next chunk; false at the end. May throw.
bool next_chunk(ArrowScan* scan) {
  Cursor& cursor = *scan->cursor;
  const Source& source = *cursor.source;
  check_current_file(scan);
  boundary::check_for_interrupts();
  scan->next_row = scan->rows = 0;
  const int64_t index = take_chunk(scan);
  if (index < 0) return false;
  const Chunk& chunk = source.chunks()[index];
  cursor.batch = {};
  cursor.batch = boundary::value_or_throw(source.batch(index));
  cursor.current_file = chunk.file;
  scan->reader = source.files()[chunk.file].get();
  boundary::guard([scan] { MemoryContextReset(scan->decoder_memory); });
  const boundary::InContext in_context(scan->decoder_memory);
  for (int i = 0; i < scan->column_count; ++i)
    scan->decoders[i] = source.decoder(index, i, cursor.batch, &scan->places[i]);
  scan->rows = chunk.rows;
  return true;
}

ArrowScan* state_of(ForeignScanState* node) { return static_cast<ArrowScan*>(node->fdw_state); }

}  // namespace
}  // namespace strom::pg::fdw_arrow

using namespace strom::pg::fdw_arrow;
using namespace strom::pg::files;
namespace codec = strom::pg::codec;

void strom_arrow_begin(ForeignScanState* node, int eflags) {
  const auto* plan = reinterpret_cast<ForeignScan*>(node->ss.ps.plan);
  const Oid relid = RelationGetRelid(node->ss.ss_currentRelation);
  MemoryContext context = node->ss.ps.state->es_query_cxt;
  node->fdw_state = entry([&] { return open_scan(node, relid, plan, context); });
}

TupleTableSlot* strom_arrow_iterate(ForeignScanState* node) {
  ArrowScan* scan = state_of(node);
  TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
  ExecClearTuple(slot);
  if (scan->next_row >= scan->rows && !entry([&] { return next_chunk(scan); })) return slot;
  const int64_t row = scan->next_row++;
  std::memset(slot->tts_isnull, true, slot->tts_tupleDescriptor->natts * sizeof(bool));
  for (int i = 0; i < scan->column_count; ++i) {
    const int attribute = scan->attnums[i] - 1;
    slot->tts_values[attribute] = codec::decode(scan->decoders[i], row, &slot->tts_isnull[attribute]);
  }
  if (row % kRowsBetweenChecks == 0 || scan->reader->is_poisoned()) entry([&] { check_current_file(scan); });
  return ExecStoreVirtualTuple(slot);
}

void strom_arrow_rescan(ForeignScanState* node) {
  ArrowScan* scan = state_of(node);
  entry([&] { check_current_file(scan); });
  scan->cursor->next_chunk = 0;
  scan->cursor->filter_ready = false;
  scan->next_row = scan->rows = 0;
}

void strom_arrow_end(ForeignScanState* node) {
  ArrowScan* scan = state_of(node);
  if (scan == nullptr) return;
  entry([&] { check_current_file(scan); });
  scan->cursor.reset();
}

void strom_arrow_explain(ForeignScanState* node, ExplainState* es) {
  entry([&] {
    const Cursor& cursor = *state_of(node)->cursor;
    std::vector<std::string> hints;
    const bool prefix = es->verbose || strom::pg::compat::explained_tables(es) > 1;
    hints.reserve(cursor.hints.size());
    for (const Node* hint : cursor.hints)
      hints.push_back(strom::pg::boundary::guard([=] {
        List* context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, NIL);
        return deparse_expression(const_cast<Node*>(hint), context, prefix, false);
      }));
    strom::pg::explain::explain_statistics(hints, es->analyze ? cursor.loaded : -1, cursor.skipped, es);
    explain_source(*cursor.source, es);
  });
}

// Copies counts, because the shared memory is gone when EXPLAIN asks. Also called for nodes of direct_insert.cpp.
void strom_arrow_shutdown(ForeignScanState* node) {
  if (reinterpret_cast<ForeignScan*>(node->ss.ps.plan)->operation != CMD_SELECT) return;
  ArrowScan* scan = state_of(node);
  if (scan == nullptr || scan->parallel == nullptr || IsParallelWorker()) return;
  scan->cursor->loaded = static_cast<int64_t>(pg_atomic_read_u64(&scan->parallel->loaded));
  scan->cursor->skipped = static_cast<int64_t>(pg_atomic_read_u64(&scan->parallel->skipped));
}

Size strom_arrow_estimate_dsm(ForeignScanState* node, ParallelContext* pcxt) { return sizeof(ParallelScan); }

void strom_arrow_initialize_dsm(ForeignScanState* node, ParallelContext* pcxt, void* coordinate) {
  ArrowScan* scan = state_of(node);
  auto* parallel = static_cast<ParallelScan*>(coordinate);
  pg_atomic_init_u64(&parallel->next_chunk, 0);
  pg_atomic_init_u64(&parallel->loaded, 0);
  pg_atomic_init_u64(&parallel->skipped, 0);
  parallel->fingerprint = scan->cursor->source->fingerprint();
  scan->parallel = parallel;
}

void strom_arrow_reinitialize_dsm(ForeignScanState* node, ParallelContext* pcxt, void* coordinate) {
  auto* parallel = static_cast<ParallelScan*>(coordinate);
  pg_atomic_write_u64(&parallel->next_chunk, 0);
  state_of(node)->parallel = parallel;
}

// May ereport.
void strom_arrow_initialize_worker(ForeignScanState* node, shm_toc* toc, void* coordinate) {
  ArrowScan* scan = state_of(node);
  auto* parallel = static_cast<ParallelScan*>(coordinate);
  const Source& source = *scan->cursor->source;
  if (source.fingerprint() != parallel->fingerprint)
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("files of foreign table \"%s\" changed while the query was starting",
                           source.table_name().c_str())));
  scan->parallel = parallel;
}
