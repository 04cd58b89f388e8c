// Rows of a store table for the engine: the table's columns in place, and a bitmap of the rows that the query's
// snapshot sees. Used by table/store/store_kind.cpp.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "columnar/heap_page.hpp"
#include "engine/plan/ir.hpp"
#include "pg/source/row_source.hpp"
#include "pg/store/memory.hpp"

namespace strom::pg::table {

/// The form in which the engine reads a column.
enum class StoredAs : uint8_t {
  kRegisters,  // the values are registers of the engine
  kViews,      // Arrow's views of texts and bytes
  kNumerics,   // like kViews, for numerics in PostgreSQL's stored form
  kDatums,     // PostgreSQL's values of fixed width, converted to registers of 64 bits
};

/// False: the engine cannot read the column as `type`, because it is stored in another form.
bool stored_as(const store::StoreColumn& column, registry::TypeId type, StoredAs* stored);

/// Who reads: a query, or the process that brings copies on GPUs up to date.
enum class Reader : uint8_t { kQuery, kRenewal };

/// The constructor makes the bitmaps, on the main thread, because only PostgreSQL knows what a snapshot sees. The
/// snapshot keeps every version that it sees, and its values, in place.
class StoreRows final : public source::RowSource {
 public:
  /// May throw.
  StoreRows(const store::Table* table, Snapshot snapshot, const std::vector<AttrNumber>& attributes,
            const std::vector<engine::plan::ValueType>& types, Reader reader = Reader::kQuery);
  ~StoreRows() override;
  StoreRows(const StoreRows&) = delete;
  StoreRows& operator=(const StoreRows&) = delete;

  int64_t chunk_count() const override { return static_cast<int64_t>(chunks_.size()); }
  int64_t total_rows() const override { return rows_; }
  int64_t chunk_rows(int64_t index) const override { return chunks_[static_cast<size_t>(index)].rows; }
  Result<columnar::BatchView> chunk(int64_t index) const override;
  bool converts_late() const override { return has_numerics_; }
  std::string describe(int64_t index) const override;
  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override;
  int64_t stored_bytes() const override;
  void explain_runs(ExplainState* es) const override;

 private:
  struct Column {
    uint32_t number;  // among the table's columns
    StoredAs stored;
    int32_t scale;                    // for kNumerics
    columnar::heap::Storage storage;  // for kDatums: how bytes become a register
  };
  /// A chunk of the table with visible rows.
  struct Chunk {
    uint64_t number;
    uint32_t rows;
    const uint64_t* seen;  // a bit for each row; nullptr: all rows are visible
    uint64_t generation;   // of Rows::generation(), after the snapshot was taken
  };
  struct Made;
  class Origin;

  void find_rows(Snapshot snapshot);
  const int64_t* make_words(const Chunk& chunk, const Column& column, Made* made) const;
  columnar::ColumnView view(const Chunk& chunk, const Column& column, bool has_nulls, Made* made) const;

  const store::Table* table_;
  mutable std::atomic<bool> uses_copies_;  // a device has asked for copies, which has been noted
  std::vector<Column> columns_;
  std::vector<Chunk> chunks_;
  std::vector<uint64_t> bits_;            // what chunks have in `seen`
  std::vector<const char*> segments_;     // of the heap for long values
  std::vector<int64_t> segment_bytes_;    // bytes in use
  int64_t rows_ = 0;                      // visible rows
  int64_t whole_ = 0, without_rows_ = 0;  // chunks that are completely visible, and chunks without visible rows
  bool has_numerics_ = false;
};

}  // namespace strom::pg::table
