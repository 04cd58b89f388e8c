// Keys of spatial joins on the host: a geometry or the two coordinates of a point, followed by a distance where the
// join has one on this side. Used by the indexes of op/gist_join and op/tree_join.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/op/join/join_rows.hpp"
#include "geo/float_box.hpp"

namespace strom::engine::op {

class SpatialKeys {
 public:
  /// `srid`: of points given by their coordinates. `keys` must outlive this object.
  SpatialKeys(const std::vector<HostColumn>& keys, int32_t srid)
      : keys_(keys),
        srid_(srid),
        by_coordinates_(keys[0].phys == registry::Phys::kF64),
        has_distance_(keys.size() > (by_coordinates_ ? 2 : 1)) {}

  bool by_coordinates() const { return by_coordinates_; }
  bool has_distance() const { return has_distance_; }
  bool is_null(int64_t row) const;
  double distance(int64_t row) const { return number(keys_.size() - 1, row); }
  geo::Point coordinates(int64_t row) const { return {number(0, row), number(1, row)}; }
  /// Only for keys that are geometries. False: no geometry of the plane.
  bool open(int64_t row, geo::SerializedGeometry* geometry) const;
  int32_t srid(int64_t row) const;
  /// The box of the row's geometry. False: the box is unknown, because it is not finite or exceeds the largest float,
  /// to which stored boxes are clamped.
  bool box(int64_t row, geo::Box* box) const;

 private:
  bool box_of_any(int64_t row, geo::Box* box) const;
  double number(size_t key, int64_t row) const { return *static_cast<const double*>(keys_[key].at(row)); }

  const std::vector<HostColumn>& keys_;
  const int32_t srid_;
  const bool by_coordinates_, has_distance_;
};

}  // namespace strom::engine::op
