// Presents the rows of several tables as those of one: the partitions of a table, or a table with its inheritance
// children. Each is read in its own way (record batches of files, pages of a heap table). See docs/dev/partitions.md.
// Used by src/pg/node.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "pg/source/row_feeder.hpp"
#include "pg/source/row_source.hpp"

namespace strom::pg::source {

class AppendRows : public RowSource {
 public:
  /// Makes the source of one leaf, with this source's columns in order. Main thread; may throw.
  using Open = std::function<std::unique_ptr<RowSource>(size_t leaf)>;

  /// `open` is called once for each of the `count` leaves that is chosen at least once.
  AppendRows(size_t count, Open open)
      : open_(std::move(open)), feeder_(std::make_unique<RowFeeder<AppendRows>>(*this)), leaves_(count) {}

  /// Chooses the leaves to read, in this order, without chunks that `filter` rules out (nullptr: none). Called before a
  /// run, while no engine thread reads. Throws what opening throws.
  void choose(const std::vector<size_t>& leaves, pruning::ChunkFilter* filter = nullptr);

  int64_t chunk_count() const override { return chunk_count_; }
  int64_t chunk_rows(int64_t index) const override;
  int64_t total_rows() const override;
  Result<columnar::BatchView> chunk(int64_t index) const override;
  int64_t loadable_columns(int64_t index) const override;
  void load_column(int64_t index, int64_t column) const override;
  engine::op::ChunkFeeder* feeder() const override { return fed_ ? feeder_.get() : nullptr; }
  bool stable_text() const override;
  bool converts_late() const override { return fed_; }
  std::string describe(int64_t index) const override;
  uint64_t cache_key(int64_t index) const override;
  std::vector<Stripe> stripes(int64_t index) const override;
  /// The index of the leaf.
  uint32_t storage_index(int64_t index) const override;
  bool has_bounds(uint32_t column) const override;
  bool may_hold(int64_t index, uint32_t column, const engine::op::KeyRange& keys) const override;
  columnar::RowsOrigin origin(const std::vector<uint32_t>& columns) const override;
  int64_t skipped_chunks() const override;
  std::vector<const pruning::ChunkStatistics*> statistics() const override;
  /// nullptr: not opened yet.
  const RowSource* leaf(size_t index) const { return leaves_[index].rows.get(); }

  void require_types(const std::vector<engine::plan::ValueType>& types) const override;
  Status unchanged() const override;
  void begin_run() override;
  void close() override;

  void begin_fallback() override;
  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override;
  void end_fallback() override;

 private:
  /// For a leaf without a feeder, if chunks are fed: rows of one of its chunks, which are fed as a chunk.
  struct Slice {
    int64_t chunk, begin, rows;
  };
  struct Leaf {
    std::unique_ptr<RowSource> rows;  // nullptr: not opened yet
    std::vector<Slice> slices;
    size_t fed_slices = 0;
    // Guarded by mutex_.
    int64_t unreleased = 0;     // chunks that were fed and not released
    bool has_fallback = false;  // PostgreSQL reads fallback rows of some of them
  };
  /// The chunks of one leaf: from `first` up to the `first` of the next part.
  struct Part {
    int64_t first;
    Leaf* leaf;
  };

  friend class RowFeeder<AppendRows>;
  bool feed();
  int64_t limit(int threads);
  void release(int64_t chunk, bool has_fallback);
  bool is_waiting() const;
  void let_devices_read(bool allowed);

  Part part_of(int64_t chunk) const;
  void begin_leaf(Leaf* leaf);
  bool feed_from(Leaf* leaf);
  void reclaim_ended();

  const Open open_;
  const std::unique_ptr<RowFeeder<AppendRows>> feeder_;
  std::vector<Leaf> leaves_;
  std::vector<Leaf*> chosen_;
  bool fed_ = false;         // a chosen leaf has a feeder
  int64_t chunk_count_ = 0;  // chunks of all chosen leaves, or those fed so far

  mutable std::mutex mutex_;  // protects parts_ while engine threads run
  std::vector<Part> parts_;
  // While chunks are fed:
  size_t next_leaf_ = 0;
  Leaf* current_ = nullptr;
  std::vector<Leaf*> ended_;  // ended leaves that still hold pages or positions of fallback rows
};

}  // namespace strom::pg::source
