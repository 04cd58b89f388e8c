// Lowest and highest values of record batches that are written, in the form of the footer's fields
// (docs/format/arrow.md). Used by all writers with ColumnBuilders: tools that dump rows, INSERT, arrow_export.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "columnar/builder.hpp"

namespace strom::format::arrow {

/// True for numbers, dates, times, timestamps and texts.
bool can_have_bounds(const columnar::Field& field);

/// Items of statistics_text.hpp. nullopt when all rows are null, or one is NaN.
using Bounds = std::optional<std::pair<std::string, std::string>>;
Bounds bounds_of(const columnar::ColumnBuilder& column);

/// Bounds of each batch of a file, for some of its columns.
class Statistics {
 public:
  /// `columns`: indexes of fields.
  explicit Statistics(std::vector<size_t> columns) : columns_(std::move(columns)), bounds_(columns_.size()) {}

  const std::vector<size_t>& columns() const { return columns_; }
  /// Bounds of a batch that is about to be written.
  std::vector<Bounds> of(const std::vector<columnar::ColumnBuilder>& batch) const;
  void add(std::vector<Bounds> batch);
  /// The bounds that were added for batch `batch`.
  std::vector<Bounds> of_batch(size_t batch) const;
  /// Takes over a file's bounds for `batches` batches; unknown where it has none.
  void resume(const columnar::Schema& schema, int64_t batches);
  /// Writes the bounds to the metadata min_values and max_values.
  void put(columnar::Schema& schema) const;

 private:
  std::vector<size_t> columns_;
  std::vector<std::vector<Bounds>> bounds_;  // by column and batch
};

}  // namespace strom::format::arrow
