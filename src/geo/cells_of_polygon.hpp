// The entries of one polygon in a grid of cells: which cells it covers, and which edges run through the other cells.
// For build_cell_index.cpp. Host.
//
// Two things are marked in cells: the edges that touch them, and the places where edges cross the height of the anchors
// of a row. A row is gone through from the left, where no ring winds around anchors. Each crossing changes the windings
// of its ring by one. So an anchor is compared with edges near it only.
#pragma once

#include <vector>

#include "base/large_allocator.hpp"
#include "geo/cell_index.hpp"

namespace strom::geo {

/// An entry, and the first cell that has it. Only an entry for whole cells is for several cells of a row. It has no
/// edges, so `entry.first_point` is then the number of cells.
struct PlacedEntry {
  CellEntry entry;
  uint32_t cell;

  uint32_t cells() const { return entry.kind == EntryKind::kWhole ? entry.first_point : 1; }
};
using PlacedEntries = base::LargeVector<PlacedEntry>;

/// Cells of a grid, first and last included.
struct GridWindow {
  int32_t left, right, bottom, top;
};
/// The cells that something in a box can touch.
GridWindow window_of(const CellIndexHeader& grid, const Box& box);

/// Adds polygons, one at a time, for one thread. It reuses its memory.
class CellsOfPolygon {
 public:
  CellsOfPolygon(const CellIndexHeader& grid, PlacedEntries* out) : grid_(grid), out_(out) {}

  /// `window`: cells of some rows. Points of these rows in other cells are outside of the polygon. `first_point`: where
  /// the polygon's points are, in the units of entries.
  void add(uint32_t number, const PreparedPolygon& polygon, const GridWindow& window, uint32_t first_point);

 private:
  /// A mark in a cell of the window: an edge that touches the cell; or, with kUpward or kDownward, an edge that crosses
  /// the height of the row's anchors between the previous cell's anchor and this cell's anchor.
  struct Mark {
    uint32_t cell, point;
  };
  static constexpr uint32_t kUpward = uint32_t{1} << 31, kDownward = uint32_t{1} << 30;
  static constexpr uint32_t kCrossing = kUpward | kDownward;
  /// How often a ring winds around the anchor; 0 is left out.
  struct Around {
    uint32_t ring;
    int32_t windings;
  };
  /// An edge in coordinates, and in cells of the grid.
  struct GridEdge {
    Point from, to, a, b;
    uint32_t point;
  };

  void find_anchors();
  void mark_edges(const PreparedPolygon& polygon);
  void mark_edge_of_cells(const GridEdge& edge);
  /// Where the edge crosses the height of the anchors of a row, if it does.
  void mark_crossing(const GridEdge& edge, int32_t row) {
    const double height = heights_[static_cast<size_t>(row - bottom_)];
    if ((edge.from.y <= height) != (edge.to.y <= height)) put_crossing(edge, row, height);
  }
  void put_crossing(const GridEdge& edge, int32_t row, double height);
  void sort_marks();
  void add_row(const PreparedPolygon& polygon, uint32_t row);
  /// Takes the marks of a cell: its edges into touched_, its crossings into around_. True: there were crossings.
  bool take_marks(const PreparedPolygon& polygon, uint32_t cell);
  void cross(uint32_t ring, int32_t windings);
  /// The answer for all points of a cell without edges.
  Answer answer_around(const PreparedPolygon& polygon) const;
  /// The answers in a cell that edges of one ring touch. False: the prepared polygon has to answer.
  bool look(const PreparedPolygon& polygon, uint32_t ring, CellEntry* entry) const;
  /// `cell`: number in the window, `placed`: number in the grid.
  void add_cell(const PreparedPolygon& polygon, uint32_t cell, uint32_t placed);
  void put(uint32_t cell, const CellEntry& entry) { out_->push_back({entry, cell}); }
  Point in_cells(Point p) const {
    return {(p.x - grid_.box.min_x) * grid_.scale_x, (p.y - grid_.box.min_y) * grid_.scale_y};
  }

  const CellIndexHeader& grid_;
  PlacedEntries* out_;
  uint32_t number_ = 0, first_point_ = 0;
  int32_t left_ = 0, right_ = 0, bottom_ = 0, top_ = 0;  // the window
  std::vector<double> anchors_;                          // of each column, in cells
  std::vector<double> heights_;                          // of each row's anchors
  std::vector<Mark> marks_, sorted_;
  std::vector<uint32_t> starts_;   // of each cell of the window, in sorted_
  std::vector<uint8_t> prepared_;  // cells of the window where the prepared polygon answers
  // Of the cell at hand:
  std::vector<uint32_t> touched_;  // first points of edges
  std::vector<Around> around_;     // in order of rings
};

}  // namespace strom::geo
