// Rows of a PostgreSQL plan that are collected before the engine starts: inner sides and sub-queries. Used by
// src/pg/node.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "columnar/builder.hpp"
#include "pg/source/row_source.hpp"
#include "pg/source/spill_file.hpp"

namespace strom::pg::source {

/// Rows of a PostgreSQL plan, collected before the engine starts.
class CollectedRows : public DecodedRows {
 public:
  /// `is_set`: the rows are only searched for values. Rows with a numeric that the engine cannot represent (NaN, too
  /// many digits) are left out, because no representable value is equal to it. If not `is_set`, such values are stored
  /// beside the columns, and rows that need them become fallback rows.
  CollectedRows(std::vector<engine::plan::ValueType> types, bool is_set);

  /// Adds a row, one value for each column. Throws PostgresError.
  void add(const Datum* values, const bool* nulls);

  /// Moves the rows so far to a temporary file, which is read after finish().
  void spill();
  /// All rows have been added.
  void finish();

  int64_t chunk_count() const override { return static_cast<int64_t>(batch_rows_.size()); }
  Result<columnar::BatchView> chunk(int64_t index) const override;
  int64_t chunk_rows(int64_t index) const override { return batch_rows_[static_cast<size_t>(index)]; }
  int64_t total_rows() const override { return rows_; }
  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override;
  /// Bytes in memory, without the file.
  int64_t memory_bytes() const;

 private:
  using Batch = std::vector<columnar::ColumnBuilder>;
  /// The values of a row that the engine cannot represent, in PostgreSQL's stored form, with their columns.
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
  SpillFile spilled_;           // holds the first batches
  std::vector<Batch> batches_;  // the remaining batches
  std::vector<int64_t> batch_rows_;
  std::map<std::pair<int64_t, int64_t>, UnheldValues> unheld_;  // by chunk and row
  // Flags of a chunk's column that has such values; see columnar::ColumnView::flags.
  std::map<std::pair<int64_t, size_t>, std::vector<uint8_t>> flags_;
  std::vector<codec::Decoder> decoders_;
  int64_t rows_ = 0;
};

}  // namespace strom::pg::source
