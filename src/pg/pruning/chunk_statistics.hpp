// What a table tells of its chunks without reading them: which values a column has there, and how many NULLs. Asked by
// ChunkFilter; a kind of table with statistics implements it.
#pragma once

#include <cstdint>
#include <optional>

#include "base/status.hpp"
#include "columnar/bounds.hpp"
#include "columnar/schema.hpp"
#include "pg/codec/type_map.hpp"

namespace strom::pg::pruning {

/// Columns are numbered as they were asked for. Errors: kCorruptFile.
class ChunkStatistics {
 public:
  virtual ~ChunkStatistics() = default;

  virtual size_t column_count() const = 0;
  /// As declared.
  virtual codec::SqlType type_of(int column) const = 0;
  virtual int64_t rows_of(int64_t chunk) const = 0;
  /// How the column is stored in the chunk; bounds are values of this field. Valid as long as this object.
  virtual const columnar::Field& field_of(int64_t chunk, int column) const = 0;
  /// -1: not known.
  virtual Result<int64_t> null_count(int64_t chunk, int column) const = 0;
  virtual Result<std::optional<columnar::Bounds>> bounds(int64_t chunk, int column) const = 0;
  /// Some chunk has bounds of the column.
  virtual Result<bool> has_bounds(int column) const = 0;
};

}  // namespace strom::pg::pruning
