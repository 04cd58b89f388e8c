#include "geo/cells_of_polygon.hpp"

#include <algorithm>
#include <cmath>

#include "geo/cells_of_edge.hpp"
#include "geo/prepare_polygon.hpp"

namespace strom::geo {

namespace {

constexpr uint32_t kMostEdges = UINT16_MAX;

bool is_odd(Point a, Point b) { return is_short(a, b) || is_doubtful(a, b); }

/// What the answer is in a cell that edges of one ring touch, for points that the ring winds around and others.
class TouchedCell {
 public:
  /// False when the prepared polygon has to answer.
  bool look(const PreparedPolygon& polygon, uint32_t ring, Point anchor, CellEntry* entry) {
    ring_ = ring;
    RingWinding own;
    if (polygon.header().rings == 1) {
      polygon.for_each_ring(anchor, [&](uint32_t, const RingWinding& winding) { own = winding; });
      entry->windings = static_cast<int8_t>(own.windings);
      return is_clear(own);
    }
    bool seen = false;
    polygon.for_each_ring(anchor, [&](uint32_t other, const RingWinding& winding) {
      if (other == ring) own = winding;
      if (other >= ring && !seen) {
        add_own(polygon);
        seen = true;
      }
      if (other != ring)
        for (RingTally& tally : tallies_) tally.add(polygon.rings()[other].part, is_shell(polygon, other), winding);
    });
    if (!seen) add_own(polygon);
    const Answer without = tallies_[0].answer(), within = tallies_[1].answer();
    if (!is_clear(own)) return false;
    if (tallies_[2].answer() != Answer::kBoundary) return false;
    entry->hole = without == Answer::kInside;
    entry->windings = static_cast<int8_t>(own.windings);
    return (without == Answer::kOutside && within == Answer::kInside) ||
           (without == Answer::kInside && within == Answer::kOutside);
  }

 private:
  static bool is_clear(const RingWinding& ring) {
    return !ring.boundary && !ring.uncertain && ring.windings >= -1 && ring.windings <= 1;
  }
  static bool is_shell(const PreparedPolygon& polygon, uint32_t ring) { return polygon.rings()[ring].shell != 0; }
  void add_own(const PreparedPolygon& polygon) {
    const RingWinding states[3] = {{0, false, false}, {1, false, false}, {0, true, false}};
    for (int i = 0; i < 3; ++i) tallies_[i].add(polygon.rings()[ring_].part, is_shell(polygon, ring_), states[i]);
  }

  uint32_t ring_ = 0;
  RingTally tallies_[3];
};

}  // namespace

void CellsOfPolygon::choose_window(const Box& box) {
  constexpr double kMargin = 1e-6;
  const Point low = in_cells({box.min_x, box.min_y}), high = in_cells({box.max_x, box.max_y});
  const auto cell = [](double value, int32_t count) {
    return std::clamp(static_cast<int32_t>(std::floor(value)), 0, count - 1);
  };
  left_ = cell(low.x - kMargin, grid_.columns);
  bottom_ = cell(low.y - kMargin, grid_.rows);
  right_ = cell(high.x + kMargin, grid_.columns);
  top_ = cell(high.y + kMargin, grid_.rows);
}

void CellsOfPolygon::touch_cells(const PreparedPolygon& polygon) {
  touches_.clear();
  const auto width = static_cast<uint32_t>(right_ - left_ + 1);
  const GridSize grid{grid_.columns, grid_.rows};
  for (uint32_t r = 0; r < polygon.header().rings; ++r) {
    const PreparedRing& ring = polygon.rings()[r];
    const Point* points = polygon.points();
    Point a = in_cells(points[ring.first_point]);
    for (uint32_t i = ring.first_point; i + 1 < ring.first_point + ring.count; ++i) {
      const Point b = in_cells(points[i + 1]);
      int32_t column, row;
      if (is_in_one_cell(a, b, &column, &row) && column <= right_ && row <= top_ && !is_odd(points[i], points[i + 1])) {
        touches_.push_back({static_cast<uint32_t>(row - bottom_) * width + static_cast<uint32_t>(column - left_), i});
        a = b;
        continue;
      }
      const bool uncertain = is_short(points[i], points[i + 1]), doubtful = is_doubtful(points[i], points[i + 1]);
      for_cells_of_edge(grid, a, b, [&](int32_t row, int32_t first, int32_t last) {
        const uint32_t begin = static_cast<uint32_t>(row - bottom_) * width;
        for (int32_t column = std::max(first, left_); column <= std::min(last, right_); ++column)
          touches_.push_back({begin + static_cast<uint32_t>(column - left_), i});
        if (!uncertain && !doubtful) return;
        const int32_t from = doubtful ? 0 : first - left_;
        std::fill(prepared_.begin() + begin + from, prepared_.begin() + begin + (last - left_ + 1), 1);
      });
      a = b;
    }
  }
}

/// By cell; edges of a cell stay in order.
void CellsOfPolygon::sort_touches() {
  for (const Touch& touch : touches_) ++starts_[touch.cell + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  sorted_.resize(touches_.size());
  for (const Touch& touch : touches_) sorted_[starts_[touch.cell]++] = touch;
  for (size_t i = starts_.size() - 1; i > 0; --i) starts_[i] = starts_[i - 1];
  starts_[0] = 0;
}

void CellsOfPolygon::add_cell(const PreparedPolygon& polygon, Point anchor, uint32_t cell, uint32_t placed) {
  const Touch *first = sorted_.data() + starts_[cell], *end = sorted_.data() + starts_[cell + 1];
  CellEntry entry{};
  entry.polygon = number_;
  entry.kind = EntryKind::kPrepared;
  const PreparedRing* ring = polygon.rings();
  while (first->point >= ring->first_point + ring->count) ++ring;
  const bool one_ring = end[-1].point < ring->first_point + ring->count;
  if (prepared_[cell] || !one_ring || end - first > kMostEdges ||
      !TouchedCell().look(polygon, static_cast<uint32_t>(ring - polygon.rings()), anchor, &entry)) {
    put(placed, entry);
    return;
  }
  entry.kind = EntryKind::kEdges;
  for (const Touch* touch = first; touch < end; ++touch) {
    if (touch > first && touch->point == touch[-1].point + 1) {
      ++out_->back().entry.edges;
      continue;
    }
    if (touch > first) out_->back().entry.more = 1;
    entry.first_point = first_point_ + touch->point;
    entry.edges = 1;
    put(placed, entry);
  }
}

void CellsOfPolygon::add(uint32_t number, const PreparedPolygon& polygon, const Box& box, uint32_t first_point) {
  number_ = number;
  first_point_ = first_point;
  choose_window(box);
  const auto width = static_cast<uint32_t>(right_ - left_ + 1), height = static_cast<uint32_t>(top_ - bottom_ + 1);
  const auto columns = static_cast<uint32_t>(grid_.columns);
  if (!polygon.header().decidable) {
    CellEntry entry{};
    entry.polygon = number;
    entry.kind = EntryKind::kPrepared;
    for (uint32_t row = 0; row < height; ++row)
      for (uint32_t column = 0; column < width; ++column)
        put((static_cast<uint32_t>(bottom_) + row) * columns + static_cast<uint32_t>(left_) + column, entry);
    return;
  }
  prepared_.assign(static_cast<size_t>(width) * height, 0);
  starts_.assign(static_cast<size_t>(width) * height + 1, 0);
  touch_cells(polygon);
  sort_touches();
  for (uint32_t row = 0; row < height; ++row) add_row(polygon, row);
}

/// Of the window.
void CellsOfPolygon::add_row(const PreparedPolygon& polygon, uint32_t row) {
  const CellIndex index(reinterpret_cast<const char*>(&grid_));
  const auto width = static_cast<uint32_t>(right_ - left_ + 1), left = static_cast<uint32_t>(left_);
  const uint32_t row_in_grid = static_cast<uint32_t>(bottom_) + row;
  const uint32_t begin = row_in_grid * static_cast<uint32_t>(grid_.columns) + left;
  const uint32_t* starts = starts_.data() + row * width;
  const uint8_t* prepared = prepared_.data() + row * width;
  CellEntry entry{};
  entry.polygon = number_;
  for (uint32_t column = 0; column < width; ++column) {
    const Point anchor = index.anchor_at(left + column, row_in_grid);
    if (starts[column] < starts[column + 1]) {
      add_cell(polygon, anchor, row * width + column, begin + column);
      continue;
    }
    if (prepared[column]) {
      entry.kind = EntryKind::kPrepared;
      put(begin + column, entry);
      continue;
    }
    // What lies in cells without edges: one point tells it for a row of them.
    const uint32_t first = column;
    while (column + 1 < width && starts[column + 1] == starts[column + 2] && !prepared[column + 1]) ++column;
    const Answer answer = polygon.locate(anchor);
    if (answer == Answer::kOutside) continue;
    entry.kind = answer == Answer::kInside ? EntryKind::kWhole : EntryKind::kPrepared;
    out_->push_back({entry, begin + first, column - first + 1});
  }
}

}  // namespace strom::geo
