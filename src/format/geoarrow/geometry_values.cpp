#include "format/geoarrow/geometry_values.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include "columnar/layout.hpp"
#include "columnar/load.hpp"
#include "columnar/nested_view.hpp"

namespace strom::format::geoarrow {

using columnar::ChildRows;
using columnar::ColumnView;
using columnar::Layout;
using geo::GeometryType;

namespace {

constexpr const char* kOutside = "its parts lie outside of the column";
constexpr const char* kNullPart = "a part of it is NULL";

/// Number `dimension` of point `row` in a column of coordinates.
double number_at(const ColumnView& points, bool is_interleaved, int64_t row, int dimension) {
  if (is_interleaved) return columnar::load<double>(points.children[0].values, row * points.byte_width + dimension);
  return columnar::load<double>(points.children[dimension].values, row);
}

bool all_valid(const ColumnView& points, bool is_interleaved, int64_t row, int dimensions) {
  if (!columnar::is_valid(points, row)) return false;
  for (int i = 0; i < dimensions; ++i) {
    const bool valid = is_interleaved ? columnar::is_valid(points.children[0], row * points.byte_width + i)
                                      : columnar::is_valid(points.children[i], row);
    if (!valid) return false;
  }
  return true;
}

bool part_rows(const ColumnView& lists, int64_t row, ChildRows* rows, const char** problem) {
  *problem = kNullPart;
  if (!columnar::is_valid(lists, row)) return false;
  *problem = kOutside;
  return columnar::list_rows(lists, row, rows) && rows->count <= std::numeric_limits<int32_t>::max();
}

}  // namespace

const char* GeometryReader::append(int64_t row, geo::Bytes* out) {
  if (field_.is_wkb) {
    const char* bytes = nullptr;
    int64_t size = 0;
    if (!columnar::text_at(view_, row, &bytes, &size)) return "it lies outside of the column's buffer";
    return geo::store_wkb(bytes, size, field_.srid, field_.expected, &form_, out);
  }
  form_.begin(field_.expected.has_z, field_.expected.has_m);
  if (const char* problem = append_native(row)) return problem;
  form_.finish(field_.srid, out);
  return nullptr;
}

const char* GeometryReader::append_native(int64_t row) {
  switch (field_.expected.type) {
    case GeometryType::kPoint: return add_points(view_, row, -1);
    case GeometryType::kLine: return add_line(view_, row, GeometryType::kLine);
    case GeometryType::kPolygon: return add_polygon(view_, row);
    default: break;
  }
  ChildRows members;
  const char* problem = nullptr;
  if (!part_rows(view_, row, &members, &problem)) return problem;
  form_.begin_collection(field_.expected.type, static_cast<uint32_t>(members.count));
  for (int64_t i = 0; i < members.count; ++i)
    if ((problem = add_member(*members.child, members.begin + i)) != nullptr) return problem;
  return nullptr;
}

const char* GeometryReader::add_member(const ColumnView& members, int64_t row) {
  if (field_.expected.type == GeometryType::kMultiPoint) return add_points(members, row, -1);
  if (field_.expected.type == GeometryType::kMultiLine) return add_line(members, row, GeometryType::kLine);
  return add_polygon(members, row);
}

/// Adds the points of a path, or a point that is a geometry itself (`count` -1); NaN makes that empty.
const char* GeometryReader::add_points(const ColumnView& vertices, int64_t begin, int64_t count) {
  const int dimensions = form_.dimensions();
  const bool is_alone = count < 0;
  for (int64_t row = begin; row < begin + (is_alone ? 1 : count); ++row) {
    if (!all_valid(vertices, field_.is_interleaved, row, dimensions)) return kNullPart;
    double numbers[geo::StoredForm::kMostDimensions];
    for (int i = 0; i < dimensions; ++i) numbers[i] = number_at(vertices, field_.is_interleaved, row, i);
    const bool is_empty = is_alone && std::isnan(numbers[0]) && std::isnan(numbers[1]);
    if (is_alone) form_.begin_path(GeometryType::kPoint, is_empty ? 0 : 1);
    if (!is_empty) form_.add_point(numbers);
  }
  return nullptr;
}

const char* GeometryReader::add_line(const ColumnView& lines, int64_t row, GeometryType type) {
  ChildRows points;
  const char* problem = nullptr;
  if (!part_rows(lines, row, &points, &problem)) return problem;
  if (points.count == 1) return "a line has one point";
  form_.begin_path(type, static_cast<uint32_t>(points.count));
  return add_points(*points.child, points.begin, points.count);
}

const char* GeometryReader::add_polygon(const ColumnView& polygons, int64_t row) {
  constexpr int64_t kLeastPoints = 4;
  ChildRows rings, points;
  const char* problem = nullptr;
  if (!part_rows(polygons, row, &rings, &problem)) return problem;
  counts_.clear();
  for (int64_t i = rings.begin; i < rings.begin + rings.count; ++i) {
    if (!part_rows(*rings.child, i, &points, &problem)) return problem;
    if (points.count < kLeastPoints) return "a ring has less than four points";
    for (int axis = 0; axis < 2; ++axis) {
      const double first = number_at(*points.child, field_.is_interleaved, points.begin, axis);
      const double last = number_at(*points.child, field_.is_interleaved, points.begin + points.count - 1, axis);
      if (std::bit_cast<uint64_t>(first) != std::bit_cast<uint64_t>(last)) return "a ring is not closed";
    }
    counts_.push_back(static_cast<uint32_t>(points.count));
  }
  form_.begin_polygon(counts_.data(), static_cast<uint32_t>(counts_.size()));
  for (int64_t i = 0; i < rings.count; ++i) {
    if (!part_rows(*rings.child, rings.begin + i, &points, &problem)) return problem;
    if (points.count != counts_[static_cast<size_t>(i)]) return kOutside;  // the file has changed meanwhile
    if ((problem = add_points(*points.child, points.begin, points.count)) != nullptr) return problem;
  }
  return nullptr;
}

namespace {

struct StoredColumn {
  std::vector<int64_t> offsets;
  geo::Bytes bytes;
};

Result<ColumnView> make_column(const GeometryField& field, const ColumnView& view,
                               std::shared_ptr<const void>* memory) {
  constexpr int64_t kPointBytes = 28;
  auto column = std::make_shared<StoredColumn>();
  column->offsets.reserve(static_cast<size_t>(view.length) + 1);
  column->bytes.reserve(static_cast<size_t>(view.length * kPointBytes));
  column->offsets.push_back(0);
  GeometryReader reader(field, view);
  for (int64_t row = 0; row < view.length; ++row) {
    if (columnar::is_valid(view, row))
      if (const char* problem = reader.append(row, &column->bytes))
        return Status(ErrorCode::kCorruptFile, "the geometry of row " + std::to_string(row) + " cannot be read")
            .with_detail("The value is not taken because " + std::string(problem) + ".");
    column->offsets.push_back(static_cast<int64_t>(column->bytes.size()));
  }
  ColumnView made;
  made.layout = Layout::kLargeBinary;
  made.length = view.length;
  made.null_count = view.null_count;
  made.validity = view.validity;
  made.values = column->offsets.data();
  made.data = column->bytes.data();
  made.data_size = static_cast<int64_t>(column->bytes.size());
  *memory = std::move(column);
  return made;
}

}  // namespace

Result<ColumnView> stored_column(const GeometryField& field, const ColumnView& view,
                                 std::shared_ptr<const void>* memory) {
  try {
    return make_column(field, view, memory);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory for a column of geometries");
  }
}

}  // namespace strom::format::geoarrow
