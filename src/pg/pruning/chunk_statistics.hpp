// Statistics of a table's chunks, available without reading them: bounds of each column's values and the number of
// NULLs. Used by ChunkFilter; kinds of table with statistics implement it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.hpp"
#include "columnar/bounds.hpp"
#include "columnar/schema.hpp"
#include "pg/codec/type_map.hpp"

namespace strom::pg::pruning {

/// Columns are numbered in the order in which they were requested. Errors: kCorruptFile.
class ChunkStatistics {
 public:
  virtual ~ChunkStatistics() = default;

  virtual size_t column_count() const = 0;
  /// The declared type.
  virtual codec::SqlType type_of(int column) const = 0;
  virtual int64_t rows_of(int64_t chunk) const = 0;
  /// The field in which the chunk stores the column; bounds are values of this field. Valid as long as this object.
  virtual const columnar::Field& field_of(int64_t chunk, int column) const = 0;
  /// The number of NULLs; -1: unknown.
  virtual Result<int64_t> null_count(int64_t chunk, int column) const = 0;
  virtual Result<std::optional<columnar::Bounds>> bounds(int64_t chunk, int column) const = 0;
  /// True if any chunk has bounds of the column.
  virtual Result<bool> has_bounds(int column) const = 0;
};

}  // namespace strom::pg::pruning
