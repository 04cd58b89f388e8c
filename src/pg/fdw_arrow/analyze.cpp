// ANALYZE of Arrow foreign tables: a uniform random sample of rows over all record batches of all files. The number of
// rows is known, so the sampled rows are drawn first and only their pages are touched.
#include <algorithm>
#include <unordered_set>

#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/decode.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/files/source.hpp"

namespace strom::pg::fdw_arrow {

using namespace files;
namespace {

using boundary::guard;

// `count` distinct numbers below `total`, ascending (Floyd's algorithm: one random number each).
std::vector<int64_t> draw(int64_t total, int64_t count) {
  std::unordered_set<int64_t> chosen;
  for (int64_t limit = total - count; limit < total; ++limit) {
    const auto pick =
        static_cast<int64_t>(pg_prng_uint64_range(&pg_global_prng_state, 0, static_cast<uint64_t>(limit)));
    if (!chosen.insert(pick).second) chosen.insert(limit);
  }
  std::vector<int64_t> rows(chosen.begin(), chosen.end());
  std::sort(rows.begin(), rows.end());
  return rows;
}

/// What form_rows() needs of one chunk: plain data.
struct SampleChunk {
  const codec::Decoder* decoders;
  const AttrNumber* attnums;
  int column_count;
  const int64_t* rows;  // row numbers, counted over the whole table
  int row_count;
  int64_t first_row;  // the number of the chunk's first row
};

// Decodes the sampled rows of a chunk into heap tuples. May ereport.
void form_rows(const SampleChunk& chunk, TupleDesc desc, HeapTuple* tuples) {
  auto* values = static_cast<Datum*>(palloc0(sizeof(Datum) * desc->natts));
  auto* nulls = static_cast<bool*>(palloc(sizeof(bool) * desc->natts));
  MemoryContext result_context = CurrentMemoryContext;
  MemoryContext row_context =
      AllocSetContextCreate(CurrentMemoryContext, "arrow_fdw sample row", ALLOCSET_DEFAULT_SIZES);
  for (int i = 0; i < chunk.row_count; ++i) {
    CHECK_FOR_INTERRUPTS();
    MemoryContextSwitchTo(row_context);
    std::fill_n(nulls, desc->natts, true);
    for (int column = 0; column < chunk.column_count; ++column) {
      const int attribute = chunk.attnums[column] - 1;
      values[attribute] = codec::decode(chunk.decoders[column], chunk.rows[i] - chunk.first_row, &nulls[attribute]);
    }
    MemoryContextSwitchTo(result_context);
    tuples[i] = heap_form_tuple(desc, values, nulls);
    MemoryContextReset(row_context);
  }
  MemoryContextDelete(row_context);
  pfree(values);
  pfree(nulls);
}

std::shared_ptr<const Source> open_all_columns(Oid relid) { return Source::open(relid, catalog::live_columns(relid)); }

// May throw.
int sample(Relation relation, HeapTuple* tuples, int wanted, double* total_rows) {
  const auto source = open_all_columns(RelationGetRelid(relation));
  const int64_t total = source->total_rows();
  *total_rows = static_cast<double>(total);
  const std::vector<int64_t> rows = draw(total, std::min<int64_t>(wanted, total));

  std::vector<AttrNumber> attnums;
  for (const SourceColumn& column : source->columns()) attnums.push_back(column.attnum);
  std::vector<codec::Decoder> decoders(attnums.size());
  std::vector<codec::RowSite> places(attnums.size());
  size_t done = 0;
  int64_t first_row = 0;
  for (size_t index = 0; index < source->chunks().size() && done < rows.size(); ++index) {
    const Chunk& chunk = source->chunks()[index];
    size_t end = done;
    while (end < rows.size() && rows[end] < first_row + chunk.rows) ++end;
    if (end > done) {
      const columnar::BatchView view = boundary::value_or_throw(source->batch(static_cast<int64_t>(index)));
      for (size_t i = 0; i < decoders.size(); ++i)
        decoders[i] = source->decoder(static_cast<int64_t>(index), static_cast<int>(i), view, &places[i]);
      const SampleChunk part{
          decoders.data(), attnums.data(), static_cast<int>(attnums.size()), &rows[done], static_cast<int>(end - done),
          first_row};
      guard([&part, relation, tuples, done] { form_rows(part, RelationGetDescr(relation), tuples + done); });
      done = end;
    }
    first_row += chunk.rows;
  }
  boundary::throw_if_failed(source->all_unchanged());
  return static_cast<int>(done);
}

int acquire_sample(Relation relation, int elevel, HeapTuple* tuples, int wanted, double* total_rows,
                   double* dead_rows) {
  const int count = boundary::entry([&] { return sample(relation, tuples, wanted, total_rows); });
  *dead_rows = 0;
  ereport(elevel, (errmsg("\"%s\": %.0f rows in Arrow files; %d rows in sample", RelationGetRelationName(relation),
                          *total_rows, count)));
  return count;
}

}  // namespace
}  // namespace strom::pg::fdw_arrow

bool strom_arrow_analyze(Relation relation, AcquireSampleRowsFunc* func, BlockNumber* totalpages) {
  // Tables of arrow_fdw_import_file() may have more columns than a heap tuple can have.
  if (RelationGetNumberOfAttributes(relation) > MaxTupleAttributeNumber) return false;
  const auto bytes = strom::pg::boundary::entry(
      [&] { return strom::pg::fdw_arrow::open_all_columns(RelationGetRelid(relation))->file_bytes(); });
  *totalpages = static_cast<BlockNumber>(std::min<int64_t>((bytes + BLCKSZ - 1) / BLCKSZ, MaxBlockNumber));
  *func = strom::pg::fdw_arrow::acquire_sample;
  return true;
}
