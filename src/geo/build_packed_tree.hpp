// Makes trees over points and boxes (packed_tree.hpp). Host.
#pragma once

#include <cstdint>
#include <vector>

#include "base/large_allocator.hpp"
#include "geo/packed_tree.hpp"

namespace strom::geo {

/// Items of a tree by their boxes. A point's box is the point. All boxes are finite and none is empty.
struct TreeItems {
  base::LargeVector<Box> boxes;
  std::vector<uint32_t> rows;
  std::vector<double> reach;  // each item's own distance, or empty

  void add(const Box& box, uint32_t row) {
    boxes.push_back(box);
    rows.push_back(row);
  }
};

struct TreeInput {
  uint32_t rows = 0;
  bool everywhere = false, mixed_srid = false, any = false, has_reach = false, far_points = false;
  int32_t srid = 0;
  TreeItems points, boxes;  // no row is in both

  /// Called for each row that is a geometry.
  void add_srid(int32_t of_row) {
    mixed_srid = mixed_srid || (any && of_row != srid);
    srid = of_row;
    any = true;
  }
};

/// The image of a TreeIndex, in words so that it begins at a multiple of 8.
base::LargeVector<uint64_t> build_tree_index(const TreeInput& input);
/// The most bytes that an image and its input take.
int64_t tree_index_memory(int64_t rows);

}  // namespace strom::geo
