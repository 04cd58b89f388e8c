// Sources that feed the engine's pipelines in this process: chunks for the engine's threads, and single values as
// Datums for rows that PostgreSQL re-checks. Used by src/pg/node.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "columnar/builder.hpp"
#include "engine/exec/execution.hpp"
#include "pg/codec/decode.hpp"
#include "pg/files/batch_filter.hpp"
#include "pg/files/source.hpp"
#include "pg/source/decompressed_columns.hpp"
#include "pg/source/spill_file.hpp"

namespace strom::pg::source {

class RowSource : public engine::exec::ChunkSource {
 public:
  /// Values of all columns, in order, of a row that the engine declined, with storage from `memory`. Between
  /// begin_recheck() and end_recheck(), which enclose asking the engine for such rows. Main thread; may throw.
  virtual void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) = 0;
  virtual void begin_recheck() {}
  virtual void end_recheck() {}

  /// Rows of chunk `index` of a source without a feeder.
  virtual int64_t chunk_rows(int64_t index) const = 0;
  /// Throws when the rows are stored differently from when columns of `types` were planned. Main thread, before a run.
  virtual void require_types(const std::vector<engine::plan::ValueType>& types) const { (void)types; }
  /// kFileChanged when rows that were handed out may not be those of the file that was opened.
  virtual Status unchanged() const { return Status::ok(); }
  /// Leaves out chunks that `filter`, which knows its values, rules out. Before a run; main thread; may throw.
  virtual void restrict_to(files::BatchFilter& filter) { (void)filter; }
  /// Chunks that are left out.
  virtual int64_t skipped_chunks() const { return 0; }
  /// Arrow tables that have been opened so far.
  virtual std::vector<const files::Source*> arrow_tables() const { return {}; }
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

/// Record batches of an Arrow foreign table.
class ArrowRows : public DecodedRows {
 public:
  explicit ArrowRows(std::shared_ptr<const files::Source> source);

  int64_t chunk_count() const override { return static_cast<int64_t>(chosen_.size()); }
  int64_t total_rows() const override { return rows_; }
  Result<columnar::BatchView> chunk(int64_t index) const override;
  int64_t loadable_columns(int64_t index) const override;
  void load_column(int64_t index, int64_t column) const override;
  int64_t chunk_rows(int64_t index) const override { return batch_of(index).rows; }
  bool stable_text() const override { return !source_->is_compressed() && source_->holds_files(); }
  std::string describe(int64_t index) const override;
  uint64_t place(int64_t index) const override;
  bool has_bounds(uint32_t column) const override;
  bool may_hold(int64_t index, uint32_t column, const engine::exec::KeyRange& keys) const override;
  columnar::RowsOrigin origin(const std::vector<uint32_t>& columns) const override {
    return source_->origin(chosen_, columns);
  }
  void restrict_to(files::BatchFilter& filter) override;
  int64_t skipped_chunks() const override {
    return static_cast<int64_t>(source_->chunks().size()) - static_cast<int64_t>(chosen_.size());
  }
  std::vector<const files::Source*> arrow_tables() const override { return {source_.get()}; }
  void require_types(const std::vector<engine::plan::ValueType>& types) const override;
  Status unchanged() const override { return source_->all_unchanged(); }
  std::string storage() const override;
  int64_t stored_bytes() const override { return source_->file_bytes(); }
  bool may_have_invalid_text() const override { return true; }
  void tell_extent(Extent* extent) const override;
  void explain_runs(ExplainState* es) const override;
  void explain_table(ExplainState* es) const override;
  void begin_run() override { decompressed_ = DecompressedColumns::open(*source_, chosen_); }
  void close() override;

 private:
  std::span<const codec::Decoder> decoders(int64_t chunk) override;
  int64_t place_of(int64_t index) const { return chosen_[static_cast<size_t>(index)]; }
  const files::Chunk& batch_of(int64_t index) const { return source_->chunks()[static_cast<size_t>(place_of(index))]; }

  std::shared_ptr<const files::Source> source_;
  std::unique_ptr<DecompressedColumns> decompressed_;
  DecompressedColumns::Counts counts_;  // of runs that have ended
  mutable std::mutex mutex_;
  mutable std::map<int64_t, files::LoadedColumns> loaded_;  // of chunks that are being loaded
  std::vector<int64_t> chosen_;                             // chunks of source_
  int64_t rows_ = 0;                                        // in them
  std::vector<codec::Decoder> decoders_;
  std::vector<codec::Place> places_;
  columnar::BatchView decoded_;
  int64_t decoded_chunk_ = -1;
};

/// Rows of a PostgreSQL plan, collected before the engine starts.
class CollectedRows : public DecodedRows {
 public:
  /// `is_set`: the rows are only asked whether they have a value. Those with a numeric that the engine cannot hold
  /// (NaN, too many digits) are left out, since no value that it can hold is equal to it. Of other rows such values are
  /// kept beside the columns, and the engine declines the rows where it needs one.
  CollectedRows(std::vector<engine::plan::ValueType> types, bool is_set);

  /// Adds a row, one value for each column. Throws PostgresError.
  void add(const Datum* values, const bool* nulls);

  /// Moves the rows so far into a temporary file, which is read after finish().
  void spill();
  /// There are no more rows.
  void finish();

  int64_t chunk_count() const override { return static_cast<int64_t>(batch_rows_.size()); }
  Result<columnar::BatchView> chunk(int64_t index) const override;
  int64_t chunk_rows(int64_t index) const override { return batch_rows_[static_cast<size_t>(index)]; }
  int64_t total_rows() const override { return rows_; }
  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override;
  /// Without the file.
  int64_t memory_bytes() const;

 private:
  using Batch = std::vector<columnar::ColumnBuilder>;
  /// Values of a row that the engine cannot hold, as PostgreSQL stores them, and their columns.
  using UnheldValues = std::vector<std::pair<size_t, std::string>>;
  std::span<const codec::Decoder> decoders(int64_t chunk) override;
  bool is_numeric(size_t column) const;
  bool hold(size_t column, Datum value, __int128* held) const;
  bool append_numeric(size_t column, Datum value, UnheldValues* unheld);
  void append(size_t column, Datum value);
  void mark_unheld(int64_t chunk, int64_t row, const UnheldValues& values);
  std::vector<columnar::ColumnView> views(int64_t chunk) const;

  std::vector<engine::plan::ValueType> types_;
  bool is_set_;
  std::vector<columnar::Field> fields_;
  SpillFile spilled_;           // the first batches
  std::vector<Batch> batches_;  // the others
  std::vector<int64_t> batch_rows_;
  std::map<std::pair<int64_t, int64_t>, UnheldValues> unheld_;  // by chunk and row
  // Flags of a chunk's column that has such, as columnar::ColumnView::flags.
  std::map<std::pair<int64_t, size_t>, std::vector<uint8_t>> flags_;
  std::vector<codec::Decoder> decoders_;
  int64_t rows_ = 0;
};

}  // namespace strom::pg::source
