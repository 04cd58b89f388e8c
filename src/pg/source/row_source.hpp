// Sources of rows for the engine's pipelines in this process: chunks for engine threads, and single values as Datums
// for fallback rows. Implemented here and by the kinds of table; used by src/pg/node.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/op/scan/chunk_source.hpp"
#include "engine/plan/ir.hpp"
#include "pg/codec/decode.hpp"
#include "pg/pruning/chunk_statistics.hpp"

namespace strom::pg::pruning {
class ChunkFilter;  // pg/pruning/chunk_filter.hpp
}

namespace strom::pg::source {

class RowSource : public engine::op::ChunkSource {
 public:
  /// Reads the values of all columns of a fallback row, in order, with storage from `memory`. Called between
  /// begin_fallback() and end_fallback(); the engine is asked for such rows between them as well. Main thread; may
  /// throw.
  virtual void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) = 0;
  virtual void begin_fallback() {}
  virtual void end_fallback() {}

  /// The number of rows in chunk `index`, for a source without a feeder.
  virtual int64_t chunk_rows(int64_t index) const = 0;
  /// Throws when columns are stored with other types than the planned `types`. Main thread, before a run.
  virtual void require_types(const std::vector<engine::plan::ValueType>& types) const { (void)types; }
  /// kFileChanged when the table may have changed, so that rows returned so far may be wrong.
  virtual Status unchanged() const { return Status::ok(); }
  /// Skips chunks that `filter`, whose values are evaluated, rules out. Before a run; main thread; may throw.
  virtual void restrict_to(pruning::ChunkFilter& filter) { (void)filter; }
  /// The number of skipped chunks.
  virtual int64_t skipped_chunks() const { return 0; }
  /// Statistics of the chunks of the tables opened so far, including skipped chunks.
  virtual std::vector<const pruning::ChunkStatistics*> statistics() const { return {}; }
  /// Begins a run over the chunks that are chosen now. Main thread; may throw.
  virtual void begin_run() {}
  /// Releases what a run holds. Main thread, when no engine thread reads any more; may throw.
  virtual void close() {}

  // ---- The rows of one table. Main thread; may throw ----

  /// A file or folder on the storage of the values; "" when no file is read.
  virtual std::string storage() const { return {}; }
  /// The size of the table in bytes; -1: unknown.
  virtual int64_t stored_bytes() const { return -1; }
  /// True if texts may be invalid in the database's encoding.
  virtual bool may_have_invalid_text() const { return false; }
  /// From now on, whenever the rows begin again, reads only what `selector` selects. It is a node that makes a bitmap
  /// of blocks, or an initialised sample scan. Only for kinds of table that have blocks.
  virtual void select_blocks(PlanState* selector) { (void)selector; }

  /// The progress of the run. The caller has set the chunks; 0 stands for an unknown number.
  struct Extent {
    int64_t chunks_done, chunks;
    int64_t bytes_done = 0, bytes = 0;
  };
  virtual void tell_extent(Extent* extent) const { (void)extent; }
  /// Blocks that all runs so far had to read, and blocks that select_blocks() has excluded.
  struct Blocks {
    int64_t fetched = -1, skipped = 0;  // -1: the table has no blocks
  };
  virtual Blocks blocks_read() const { return {}; }
  /// EXPLAIN ANALYZE's lines about where the runs got the values from.
  virtual void explain_runs(ExplainState* es) const { (void)es; }
  /// EXPLAIN's lines about what is read, for kinds of table that are opened for EXPLAIN.
  virtual void explain_table(ExplainState* es) const { (void)es; }
};

/// A source with a fixed list of chunks, whose values are decoded one by one.
class DecodedRows : public RowSource {
 public:
  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override;

 private:
  /// Decoders of all columns for chunk `chunk`, in order. Valid until the next call. May throw.
  virtual std::span<const codec::Decoder> decoders(int64_t chunk) = 0;
};

}  // namespace strom::pg::source
