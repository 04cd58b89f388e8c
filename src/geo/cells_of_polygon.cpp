#include "geo/cells_of_polygon.hpp"

#include <algorithm>
#include <cmath>

#include "geo/cells_of_edge.hpp"
#include "geo/prepare_polygon.hpp"

namespace strom::geo {

namespace {

constexpr uint32_t kMostEdges = UINT16_MAX;

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

/// Of a cell of the window.
uint32_t CellsOfPolygon::cell_in_grid(uint32_t cell) const {
  const auto width = static_cast<uint32_t>(right_ - left_ + 1);
  const uint32_t row = static_cast<uint32_t>(bottom_) + cell / width;
  return row * static_cast<uint32_t>(grid_.columns) + static_cast<uint32_t>(left_) + cell % width;
}

void CellsOfPolygon::put(uint32_t cell, const CellEntry& entry) {
  out_->cells.push_back(cell_in_grid(cell));
  out_->entries.push_back(entry);
}

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

void CellsOfPolygon::add_cell(const PreparedPolygon& polygon, Point anchor, uint32_t cell, const Touch* first,
                              const Touch* end) {
  CellEntry entry{};
  entry.polygon = number_;
  entry.kind = EntryKind::kPrepared;
  const PreparedRing* ring = polygon.rings();
  while (first->point >= ring->first_point + ring->count) ++ring;
  const bool one_ring = end[-1].point < ring->first_point + ring->count;
  if (prepared_[cell] || !one_ring || end - first > kMostEdges ||
      !TouchedCell().look(polygon, static_cast<uint32_t>(ring - polygon.rings()), anchor, &entry)) {
    put(cell, entry);
    return;
  }
  entry.kind = EntryKind::kEdges;
  for (const Touch* touch = first; touch < end; ++touch) {
    if (touch > first && touch->point == touch[-1].point + 1) {
      ++out_->entries.back().edges;
      continue;
    }
    if (touch > first) out_->entries.back().more = 1;
    entry.first_point = first_point_ + touch->point;
    entry.edges = 1;
    put(cell, entry);
  }
}

void CellsOfPolygon::add(uint32_t number, const PreparedPolygon& polygon, const Box& box, uint32_t first_point) {
  number_ = number;
  first_point_ = first_point;
  choose_window(box);
  const auto width = static_cast<uint32_t>(right_ - left_ + 1), height = static_cast<uint32_t>(top_ - bottom_ + 1);
  CellEntry entry{};
  entry.polygon = number;
  entry.kind = EntryKind::kPrepared;
  if (!polygon.header().decidable) {
    for (uint32_t cell = 0; cell < width * height; ++cell) put(cell, entry);
    return;
  }
  prepared_.assign(static_cast<size_t>(width) * height, 0);
  starts_.assign(static_cast<size_t>(width) * height + 1, 0);
  touch_cells(polygon);
  sort_touches();
  for (uint32_t row = 0; row < height; ++row) {
    Answer known = Answer::kOutside;
    bool is_known = false;  // what lies in cells without edges; one point tells it for a row of them
    for (uint32_t column = 0; column < width; ++column) {
      const uint32_t cell = row * width + column;
      const Point anchor = CellIndex(reinterpret_cast<const char*>(&grid_)).anchor_of(cell_in_grid(cell));
      const uint32_t first = starts_[cell], end = starts_[cell + 1];
      if (first < end) {
        add_cell(polygon, anchor, cell, sorted_.data() + first, sorted_.data() + end);
        is_known = false;
        continue;
      }
      if (prepared_[cell]) {
        put(cell, entry);
        is_known = false;
        continue;
      }
      if (!is_known) known = polygon.locate(anchor);
      is_known = true;
      if (known == Answer::kOutside) continue;
      entry.kind = known == Answer::kInside ? EntryKind::kWhole : EntryKind::kPrepared;
      put(cell, entry);
      entry.kind = EntryKind::kPrepared;
    }
  }
}

}  // namespace strom::geo
