// Sources that feed the engine's pipelines in this process: chunks for the engine's threads, and single values as
// Datums for fallback rows. Implemented here and by the kinds of table, used by src/pg/node.
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
  /// Values of all columns, in order, of a fallback row, with storage from `memory`. Between
  /// begin_fallback() and end_fallback(), which enclose asking the engine for such rows. Main thread; may throw.
  virtual void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) = 0;
  virtual void begin_fallback() {}
  virtual void end_fallback() {}

  /// Rows of chunk `index` of a source without a feeder.
  virtual int64_t chunk_rows(int64_t index) const = 0;
  /// Throws when the rows are stored differently from when columns of `types` were planned. Main thread, before a run.
  virtual void require_types(const std::vector<engine::plan::ValueType>& types) const { (void)types; }
  /// kFileChanged when rows that were handed out may not be those of the table that was opened.
  virtual Status unchanged() const { return Status::ok(); }
  /// Leaves out chunks that `filter`, which knows its values, rules out. Before a run; main thread; may throw.
  virtual void restrict_to(pruning::ChunkFilter& filter) { (void)filter; }
  /// Chunks that are left out.
  virtual int64_t skipped_chunks() const { return 0; }
  /// Statistics of the chunks of the tables that have been opened so far, before any were left out.
  virtual std::vector<const pruning::ChunkStatistics*> statistics() const { return {}; }
  /// A run is about to begin, over the chunks that are chosen now. Main thread; may throw.
  virtual void begin_run() {}
  /// Lets go of what a run holds. Main thread, when no engine thread reads any more; may throw.
  virtual void close() {}

  // ---- The rows of one table. Main thread; may throw ----

  /// A file or folder on the storage of the values; "" where none is read.
  virtual std::string storage() const { return {}; }
  /// How large the table is; -1: not known.
  virtual int64_t stored_bytes() const { return -1; }
  /// Nobody has checked whether texts are valid in the database's encoding.
  virtual bool may_have_invalid_text() const { return false; }
  /// Reads only what the node tells, from now on, whenever the rows begin anew: a node that makes a bitmap of blocks,
  /// or an initialised sample scan. For kinds of table that have blocks.
  virtual void select_blocks(PlanState* selector) { (void)selector; }

  /// How far the run has come. Filled in already with chunks, of which 0 are there when their number is not known.
  struct Extent {
    int64_t chunks_done, chunks;
    int64_t bytes_done = 0, bytes = 0;
  };
  virtual void tell_extent(Extent* extent) const { (void)extent; }
  /// Blocks that all runs so far had to read, and that select_blocks() has left out.
  struct Blocks {
    int64_t fetched = -1, skipped = 0;  // -1: the table has no blocks
  };
  virtual Blocks blocks_read() const { return {}; }
  /// EXPLAIN ANALYZE's lines about how the runs have come by the values.
  virtual void explain_runs(ExplainState* es) const { (void)es; }
  /// EXPLAIN's lines about what is read; for kinds that are opened for EXPLAIN.
  virtual void explain_table(ExplainState* es) const { (void)es; }
};

/// A source whose chunks stay, and whose values are decoded one by one.
class DecodedRows : public RowSource {
 public:
  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override;

 private:
  /// Decoders of all columns for chunk `chunk`, in order; valid until the next call. May throw.
  virtual std::span<const codec::Decoder> decoders(int64_t chunk) = 0;
};

}  // namespace strom::pg::source
