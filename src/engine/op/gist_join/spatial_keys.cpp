#include "engine/op/gist_join/spatial_keys.hpp"

#include <algorithm>

namespace strom::engine::op {

using registry::StrView;

bool SpatialKeys::is_null(int64_t row) const {
  return std::any_of(keys_.begin(), keys_.end(), [row](const HostColumn& key) { return key.is_null(row); });
}

bool SpatialKeys::open(int64_t row, geo::SerializedGeometry* geometry) const {
  const auto* bytes = static_cast<const StrView*>(keys_[0].at(row));
  return geo::SerializedGeometry::open(bytes->ptr, bytes->len, geometry);
}

int32_t SpatialKeys::srid(int64_t row) const {
  geo::SerializedGeometry geometry;
  return !by_coordinates_ && open(row, &geometry) ? geometry.srid() : srid_;
}

bool SpatialKeys::box(int64_t row, geo::Box* box) const { return box_of_any(row, box) && box->fits_floats(); }

bool SpatialKeys::box_of_any(int64_t row, geo::Box* box) const {
  *box = geo::Box::empty();
  if (by_coordinates_) {
    box->add(coordinates(row));
    return box->is_finite();
  }
  geo::SerializedGeometry geometry;
  if (!open(row, &geometry)) return false;
  if (geometry.stored_box(box)) return box->is_finite();
  geo::SerializedPaths paths(geometry);
  geo::Path path;
  geo::Step step;
  while ((step = paths.next(&path)) == geo::Step::kPath)
    for (int64_t i = 0; i < path.count; ++i) {
      if (!geo::is_finite(path.points.point(i))) return false;
      box->add(path.points.point(i));
    }
  return step == geo::Step::kEnd && !box->is_empty();
}

}  // namespace strom::engine::op
