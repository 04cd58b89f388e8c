// The entries of one polygon in a grid of cells: which cells it covers, and which edges run through the others. For
// build_cell_index.cpp. Host.
#pragma once

#include <vector>

#include "base/large_allocator.hpp"
#include "geo/cell_index.hpp"

namespace strom::geo {

/// An entry, and the cells of a row that it is of. More than one for whole cells only.
struct PlacedEntry {
  CellEntry entry;
  uint32_t cell, cells;
};
using PlacedEntries = base::LargeVector<PlacedEntry>;

/// Adds polygons of one thread; has its memory.
class CellsOfPolygon {
 public:
  CellsOfPolygon(const CellIndexHeader& grid, PlacedEntries* out) : grid_(grid), out_(out) {}

  /// `box`: points outside are outside. `first_point`: where the polygon's points are, as entries have it.
  void add(uint32_t number, const PreparedPolygon& polygon, const Box& box, uint32_t first_point);

 private:
  /// An edge that touches a cell of the window.
  struct Touch {
    uint32_t cell, point;
  };

  void choose_window(const Box& box);
  void touch_cells(const PreparedPolygon& polygon);
  void sort_touches();
  void add_row(const PreparedPolygon& polygon, uint32_t row);
  /// `cell`: of the window, `placed`: of the grid.
  void add_cell(const PreparedPolygon& polygon, Point anchor, uint32_t cell, uint32_t placed);
  void put(uint32_t cell, const CellEntry& entry) { out_->push_back({entry, cell, 1}); }
  Point in_cells(Point p) const {
    return {(p.x - grid_.box.min_x) * grid_.scale_x, (p.y - grid_.box.min_y) * grid_.scale_y};
  }

  const CellIndexHeader& grid_;
  PlacedEntries* out_;
  uint32_t number_ = 0, first_point_ = 0;
  // The window: the cells of the polygon's box.
  int32_t left_ = 0, right_ = 0, bottom_ = 0, top_ = 0;
  std::vector<Touch> touches_, sorted_;
  std::vector<uint32_t> starts_;   // of each cell of the window, in sorted_
  std::vector<uint8_t> prepared_;  // cells of the window where the prepared polygon answers
};

}  // namespace strom::geo
