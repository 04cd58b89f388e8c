#include "engine/op/tree_join/tree_index.hpp"

#include <algorithm>
#include <cmath>

#include "engine/op/gist_join/spatial_keys.hpp"
#include "engine/op/gist_join/write_probes.hpp"

namespace strom::engine::op {

using block::JoinTable;

/// Adds the row's geometry to one of the trees, or to none when it matches nothing.
void TreeIndex::add(const SpatialKeys& keys, int64_t row, geo::TreeInput* input) const {
  const auto number = static_cast<uint32_t>(row);
  geo::SerializedGeometry geometry;
  geo::Point point{0, 0};
  geo::Box box;
  const bool opened = keys.by_coordinates() || keys.open(row, &geometry);
  if (opened) input->add_srid(keys.srid(row));
  const double reach = keys.has_distance() ? keys.distance(row) : 0;
  if (!opened || !geo::NearQuery::is_distance(reach)) {
    input->everywhere = true;
    return;
  }
  const auto put = [&](geo::TreeItems* items, const geo::Box& of_row) {
    items->add(of_row, number);
    if (keys.has_distance()) items->reach.push_back(reach);
  };
  const bool is_point = keys.by_coordinates() || geo::read_point(geometry, &point);
  if (keys.by_coordinates()) point = keys.coordinates(row);
  if (is_point && by_distance()) {
    if (!geo::fits_floats(point)) input->far_points = true;
    if (geo::is_finite(point))
      put(&input->points, geo::box_of(point));
    else
      put(&input->boxes, geo::Box::everything());  // PostGIS may find it near anything
    return;
  }
  geo::BoxAnswer answer = geo::BoxAnswer::kUncertain;
  if (!keys.by_coordinates()) {
    answer = geo::float_box(geometry, &box);
  } else if (geo::is_finite(point)) {
    answer = geo::BoxAnswer::kBox;
    box = geo::float_box_of(point);
  }
  if (answer == geo::BoxAnswer::kNone) return;
  const bool fits = !by_distance() || box.fits_floats();
  if (answer == geo::BoxAnswer::kBox && fits)
    put(&input->boxes, box);
  else
    input->everywhere = true;
}

Status TreeIndex::build(const std::vector<uint32_t>&, int, JoinTable* table) {
  const SpatialKeys keys(rows_.keys, needs_.srid);
  geo::TreeInput input;
  input.rows = static_cast<uint32_t>(rows_.count);
  input.has_reach = keys.has_distance();
  for (int64_t row = 0; row < rows_.count; ++row)
    if (!keys.is_null(row)) add(keys, row, &input);
  image_ = geo::build_tree_index(input);
  bytes_ = reinterpret_cast<const char*>(image_.data());
  table->kind = block::JoinTableKind::kTree;
  table->unique = rows_.count <= 1 || needs_.any_match;
  table->tree = {bytes_, static_cast<uint64_t>(geo::TreeIndex(bytes_).header().size), needs_.srid, by_distance()};
  return Status::ok();
}

void TreeIndex::add_arrays(const JoinTable& table, std::vector<TableArray>* arrays) {
  arrays->push_back({offsetof(JoinTable, tree.image), table.tree.image_bytes});
}

/// False: unknown. By distance, PostGIS's products overflow for geometries that are no points and points beyond floats,
/// so it may find them near each other from anywhere.
bool TreeIndex::find_in_box(const SpatialKeys& keys, std::vector<int64_t>* found) const {
  constexpr double kRounding = 1e-6;     // boxes of floats are rounded
  constexpr double kUnderflow = 1e-150;  // squares of smaller differences are 0
  const geo::TreeIndex index(bytes_);
  geo::Box box;
  if (index.header().everywhere != 0 || !keys.box(0, &box)) return false;
  double reach = 0;
  if (by_distance()) {
    if (index.header().far_points != 0 || index.header().mixed_srid != 0 ||
        (index.header().any != 0 && keys.srid(0) != index.header().srid))
      return false;
    if (keys.has_distance()) reach = keys.distance(0);
    if (!geo::NearQuery::is_distance(reach)) return false;
  }
  const double largest =
      std::max({std::fabs(box.min_x), std::fabs(box.max_x), std::fabs(box.min_y), std::fabs(box.max_y)});
  box = box.expanded(reach + (reach + largest) * kRounding + kUnderflow);
  for (const geo::PackedTree& tree : {index.points(), index.boxes()})
    for (uint32_t item = tree.find_overlapping(box, 0); item != geo::PackedTree::kNone;
         item = tree.find_overlapping(box, item + 1))
      found->push_back(tree.row(item));
  return true;
}

void TreeIndex::find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const {
  if (find_in_box(SpatialKeys(keys, needs_.srid), found)) {
    std::sort(found->begin(), found->end());
    return;
  }
  const SpatialKeys rows(rows_.keys, needs_.srid);
  for (int64_t row = 0; row < rows_.count; ++row)
    if (!rows.is_null(row)) found->push_back(row);
}

int TreeIndex::write_candidates(JoinWriter* writer, size_t position, int rows) const {
  return write_first_probe(writer, position, rows);
}

int TreeIndex::write_following(JoinWriter* writer, size_t position, int rows) const {
  return write_next_probe(writer, position, rows);
}

}  // namespace strom::engine::op
