// Columns of compressed record batches that the column cache holds between queries (docs/dev/column_cache.md), as used
// by one run. Used by ArrowRows.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "pg/files/source.hpp"
#include "pg/cache/shared_columns.hpp"

namespace strom::pg::table {

using cache::ColumnId;
using cache::FoundColumn;
using cache::GroupId;
using cache::SharedColumns;

class DecompressedColumns final : public files::ColumnStore {
 public:
  /// Opens the cache for a run over `chunks` of `table`, which outlives the result. nullptr when none of its columns
  /// may be cached. Main thread; throws PostgresError.
  static std::unique_ptr<DecompressedColumns> open(const files::Source& table, std::span<const int64_t> chunks);
  ~DecompressedColumns() override;

  bool find(int64_t chunk, size_t column, columnar::ColumnView* view) const override;
  void offer(int64_t chunk, size_t column, const columnar::ColumnView& view) const override;

  /// Numbers of columns of record batches that were found, that had to be decompressed, and that close() has cached.
  struct Counts {
    int64_t cached = 0, decompressed = 0, filled = 0;
  };
  Counts counts() const {
    return {cached_.load(std::memory_order_relaxed), decompressed_.load(std::memory_order_relaxed), filled_};
  }

  /// Caches the columns that the run has decompressed, if their files have not changed. Main thread, when no other
  /// thread reads any more; throws PostgresError.
  void close();

 private:
  enum class State : uint8_t { kNothing, kRoom, kBeingWritten, kWritten, kCached };
  struct Slot {
    std::atomic<State> state = State::kNothing;
    uint8_t* image = nullptr;  // kCached, kWritten: the column; kRoom: the place for it
    int64_t size = 0;          // of the room; kWritten: of the column
    SharedColumns::Room room{};
  };

  DecompressedColumns(const files::Source& table, SharedColumns* shared);
  Slot& slot(int64_t chunk, size_t column) const;
  GroupId group_of(int64_t chunk, size_t column, uint64_t* version) const;
  void look_up(int64_t chunk);
  void make_room(int64_t chunk, size_t column, Slot* slot);

  const files::Source& table_;
  SharedColumns* const shared_;
  SharedColumns::Turn turn_;
  SharedColumns::Pins pins_;
  std::unique_ptr<Slot[]> slots_;  // for each chunk, one for each column
  bool has_room_ = true;
  int64_t filled_ = 0;
  mutable std::atomic<int64_t> cached_ = 0, decompressed_ = 0;
};

}  // namespace strom::pg::table
