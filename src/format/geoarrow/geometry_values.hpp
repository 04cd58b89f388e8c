// Converts values of geometry fields to PostGIS's stored form: row by row for PostgreSQL, whole columns for the engine.
#pragma once

#include <cstdint>
#include <memory>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "format/geoarrow/geometry_field.hpp"

namespace strom::format::geoarrow {

/// Reads a column of a geometry field. Not thread-safe. Throws std::bad_alloc.
class GeometryReader {
 public:
  GeometryReader(const GeometryField& field, const columnar::ColumnView& view) : field_(field), view_(view) {}

  /// Appends row `row`, which is not NULL. Returns nullptr, or what is wrong with it.
  const char* append(int64_t row, geo::Bytes* out);

 private:
  const char* append_native(int64_t row);
  const char* add_points(const columnar::ColumnView& vertices, int64_t begin, int64_t count);
  const char* add_line(const columnar::ColumnView& lines, int64_t row, geo::GeometryType type);
  const char* add_polygon(const columnar::ColumnView& polygons, int64_t row);
  const char* add_member(const columnar::ColumnView& members, int64_t row);

  const GeometryField field_;
  const columnar::ColumnView view_;
  geo::StoredForm form_;
  std::vector<uint32_t> counts_;
};

/// Returns a column of layout kLargeBinary, and its memory. NULLs are those of `view`, whose bitmap it shares.
/// Thread-safe. Errors: kCorruptFile (a value is not a geometry, or PostGIS rejects it; the message has the row),
/// kOutOfMemory.
Result<columnar::ColumnView> stored_column(const GeometryField& field, const columnar::ColumnView& view,
                                           std::shared_ptr<const void>* memory);

}  // namespace strom::format::geoarrow
