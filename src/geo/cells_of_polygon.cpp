#include "geo/cells_of_polygon.hpp"

#include <algorithm>
#include <cmath>

#include "geo/cells_of_edge.hpp"
#include "geo/prepare_polygon.hpp"

namespace strom::geo {

namespace {

constexpr uint32_t kMostEdges = UINT16_MAX;

bool is_odd(Point a, Point b) { return is_short(a, b) || is_doubtful(a, b); }

bool is_clear(int32_t windings) { return windings >= -1 && windings <= 1; }

uint32_t ring_of(const PreparedPolygon& polygon, uint32_t point) {
  const PreparedRing *rings = polygon.rings(), *end = rings + polygon.header().rings;
  const auto is_before = [](uint32_t one, const PreparedRing& ring) { return one < ring.first_point; };
  return static_cast<uint32_t>(std::upper_bound(rings, end, point, is_before) - rings - 1);
}

void add_ring(const PreparedPolygon& polygon, uint32_t ring, const RingWinding& winding, RingTally* tally) {
  const PreparedRing& one = polygon.rings()[ring];
  tally->add(one.part, one.shell != 0, winding);
}

}  // namespace

GridWindow window_of(const CellIndexHeader& grid, const Box& box) {
  constexpr double kMargin = 1e-6;
  const auto cell = [](double value, int32_t count) {
    return std::clamp(static_cast<int32_t>(std::floor(value)), 0, count - 1);
  };
  return {cell((box.min_x - grid.box.min_x) * grid.scale_x - kMargin, grid.columns),
          cell((box.max_x - grid.box.min_x) * grid.scale_x + kMargin, grid.columns),
          cell((box.min_y - grid.box.min_y) * grid.scale_y - kMargin, grid.rows),
          cell((box.max_y - grid.box.min_y) * grid.scale_y + kMargin, grid.rows)};
}

/// Rounding moves anchors by up to 1/64 of a cell (least_cell()), so this takes the anchors that readers compute.
void CellsOfPolygon::find_anchors() {
  const CellIndex index(reinterpret_cast<const char*>(&grid_));
  anchors_.clear();
  heights_.clear();
  for (int32_t column = left_; column <= right_; ++column)
    anchors_.push_back(in_cells(index.anchor_at(static_cast<uint32_t>(column), 0)).x);
  for (int32_t row = bottom_; row <= top_; ++row) heights_.push_back(index.anchor_at(0, static_cast<uint32_t>(row)).y);
}

void CellsOfPolygon::mark_edges(const PreparedPolygon& polygon) {
  constexpr double kMargin = 1e-5;  // more than the margin of for_cells_of_edge()
  marks_.clear();
  const auto width = static_cast<uint32_t>(right_ - left_ + 1);
  // Edges below or above these heights touch no cell of the window.
  const double low = bottom_ == 0 ? -HUGE_VAL : bottom_ - kMargin;
  const double high = top_ == grid_.rows - 1 ? HUGE_VAL : top_ + 1 + kMargin;
  const Point* points = polygon.points();
  for (uint32_t r = 0; r < polygon.header().rings; ++r) {
    const PreparedRing& ring = polygon.rings()[r];
    Point a = in_cells(points[ring.first_point]);
    for (uint32_t i = ring.first_point; i + 1 < ring.first_point + ring.count; ++i) {
      const GridEdge edge{points[i], points[i + 1], a, in_cells(points[i + 1]), i};
      a = edge.b;
      if ((edge.a.y < low && edge.b.y < low) || (edge.a.y > high && edge.b.y > high)) continue;
      int32_t column, row;
      if (!is_in_one_cell(edge.a, edge.b, &column, &row) || column > right_ || row > top_ || row < bottom_ ||
          is_odd(edge.from, edge.to)) {
        mark_edge_of_cells(edge);
        continue;
      }
      marks_.push_back({static_cast<uint32_t>(row - bottom_) * width + static_cast<uint32_t>(column - left_), i});
      mark_crossing(edge, row);
    }
  }
}

void CellsOfPolygon::mark_edge_of_cells(const GridEdge& edge) {
  const auto width = static_cast<uint32_t>(right_ - left_ + 1);
  const bool uncertain = is_short(edge.from, edge.to), doubtful = is_doubtful(edge.from, edge.to);
  const auto mark = [&](int32_t row, int32_t first, int32_t last) {
    const uint32_t begin = static_cast<uint32_t>(row - bottom_) * width;
    for (int32_t column = std::max(first, left_); column <= std::min(last, right_); ++column)
      marks_.push_back({begin + static_cast<uint32_t>(column - left_), edge.point});
    mark_crossing(edge, row);
    if (!uncertain && !doubtful) return;
    const int32_t from = doubtful ? 0 : first - left_;
    std::fill(prepared_.begin() + begin + from, prepared_.begin() + begin + (last - left_ + 1), 1);
  };
  for_cells_of_edge({grid_.columns, bottom_, top_}, edge.a, edge.b, mark);
}

void CellsOfPolygon::put_crossing(const GridEdge& edge, int32_t row, double height) {
  constexpr double kMargin = 1e-6;  // more than the errors of the crossing and of the anchor
  const double along = (height - edge.from.y) / (edge.to.y - edge.from.y);
  const double x = edge.a.x + along * (edge.b.x - edge.a.x);
  int32_t column = std::clamp(static_cast<int32_t>(x), left_, right_);
  const double anchor = anchors_[static_cast<size_t>(column - left_)];
  const auto width = static_cast<uint32_t>(right_ - left_ + 1);
  const uint32_t begin = static_cast<uint32_t>(row - bottom_) * width;
  if (std::abs(x - anchor) < kMargin) prepared_[begin + static_cast<uint32_t>(column - left_)] = 1;
  if (x > anchor && ++column > right_) return;  // right of all anchors
  marks_.push_back(
      {begin + static_cast<uint32_t>(column - left_), edge.point | (edge.from.y < edge.to.y ? kUpward : kDownward)});
}

/// Sorts the marks by cell; edges of a cell stay in order.
void CellsOfPolygon::sort_marks() {
  for (const Mark& mark : marks_) ++starts_[mark.cell + 1];
  for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
  sorted_.resize(marks_.size());
  for (const Mark& mark : marks_) sorted_[starts_[mark.cell]++] = mark;
  for (size_t i = starts_.size() - 1; i > 0; --i) starts_[i] = starts_[i - 1];
  starts_[0] = 0;
}

bool CellsOfPolygon::take_marks(const PreparedPolygon& polygon, uint32_t cell) {
  touched_.clear();
  bool crossed = false;
  for (uint32_t i = starts_[cell]; i < starts_[cell + 1]; ++i) {
    const uint32_t point = sorted_[i].point;
    if ((point & kCrossing) == 0) {
      touched_.push_back(point);
      continue;
    }
    // To the right of an upward edge, the edge no longer counts.
    const uint32_t ring = polygon.header().rings == 1 ? 0 : ring_of(polygon, point & ~kCrossing);
    cross(ring, (point & kUpward) != 0 ? -1 : 1);
    crossed = true;
  }
  return crossed;
}

void CellsOfPolygon::cross(uint32_t ring, int32_t windings) {
  const auto is_before = [](const Around& one, uint32_t other) { return one.ring < other; };
  const auto at = std::lower_bound(around_.begin(), around_.end(), ring, is_before);
  if (at == around_.end() || at->ring != ring)
    around_.insert(at, {ring, windings});
  else if ((at->windings += windings) == 0)
    around_.erase(at);
}

Answer CellsOfPolygon::answer_around(const PreparedPolygon& polygon) const {
  RingTally tally;
  for (const Around& one : around_) add_ring(polygon, one.ring, {one.windings, false, false}, &tally);
  return tally.answer();
}

bool CellsOfPolygon::look(const PreparedPolygon& polygon, uint32_t ring, CellEntry* entry) const {
  if (polygon.header().rings == 1) {
    const int32_t windings = around_.empty() ? 0 : around_.front().windings;
    entry->windings = static_cast<int8_t>(windings);
    return is_clear(windings);
  }
  // The answers for points that the ring does not wind around, that it winds around, and that lie on it.
  const RingWinding states[3] = {{0, false, false}, {1, false, false}, {0, true, false}};
  RingTally tallies[3];
  const auto add_own = [&] {
    for (int i = 0; i < 3; ++i) add_ring(polygon, ring, states[i], &tallies[i]);
  };
  int32_t own = 0;
  bool seen = false;
  for (const Around& one : around_) {
    if (one.ring >= ring && !seen) {
      add_own();
      seen = true;
    }
    if (one.ring == ring) {
      own = one.windings;
      continue;
    }
    for (RingTally& tally : tallies) add_ring(polygon, one.ring, {one.windings, false, false}, &tally);
  }
  if (!seen) add_own();
  const Answer without = tallies[0].answer(), within = tallies[1].answer();
  entry->hole = without == Answer::kInside;
  entry->windings = static_cast<int8_t>(own);
  return is_clear(own) && tallies[2].answer() == Answer::kBoundary &&
         ((without == Answer::kOutside && within == Answer::kInside) ||
          (without == Answer::kInside && within == Answer::kOutside));
}

void CellsOfPolygon::add_cell(const PreparedPolygon& polygon, uint32_t cell, uint32_t placed) {
  CellEntry entry{};
  entry.polygon = number_;
  entry.kind = EntryKind::kPrepared;
  const uint32_t ring = polygon.header().rings == 1 ? 0 : ring_of(polygon, touched_.front());
  const PreparedRing& own = polygon.rings()[ring];
  const bool one_ring = touched_.back() < own.first_point + own.count;
  if (prepared_[cell] || !one_ring || touched_.size() > kMostEdges || !look(polygon, ring, &entry)) {
    put(placed, entry);
    return;
  }
  entry.kind = EntryKind::kEdges;
  uint32_t before = 0;
  for (const uint32_t point : touched_) {
    const bool begun = entry.edges > 0;
    if (begun && point == before + 1) {
      ++entry.edges;
    } else {
      entry.more = 1;
      if (begun) put(placed, entry);
      entry.first_point = first_point_ + point;
      entry.edges = 1;
    }
    before = point;
  }
  entry.more = 0;
  put(placed, entry);
}

void CellsOfPolygon::add(uint32_t number, const PreparedPolygon& polygon, const GridWindow& window,
                         uint32_t first_point) {
  number_ = number;
  first_point_ = first_point;
  left_ = window.left, right_ = window.right, bottom_ = window.bottom, top_ = window.top;
  const auto width = static_cast<uint32_t>(right_ - left_ + 1), height = static_cast<uint32_t>(top_ - bottom_ + 1);
  const bool decidable = polygon.header().decidable;
  prepared_.assign(static_cast<size_t>(width) * height, decidable ? 0 : 1);
  starts_.assign(static_cast<size_t>(width) * height + 1, 0);
  if (decidable) {
    find_anchors();
    mark_edges(polygon);
    sort_marks();
  }
  for (uint32_t row = 0; row < height; ++row) add_row(polygon, row);
}

/// `row`: of the window.
void CellsOfPolygon::add_row(const PreparedPolygon& polygon, uint32_t row) {
  const auto width = static_cast<uint32_t>(right_ - left_ + 1), left = static_cast<uint32_t>(left_);
  const uint32_t row_in_grid = static_cast<uint32_t>(bottom_) + row;
  const uint32_t begin = row_in_grid * static_cast<uint32_t>(grid_.columns) + left;
  const uint32_t* starts = starts_.data() + row * width;
  const uint8_t* prepared = prepared_.data() + row * width;
  around_.clear();
  Answer answer = Answer::kOutside;
  CellEntry entry{};
  entry.polygon = number_;
  for (uint32_t column = 0; column < width; ++column) {
    const bool crossed = take_marks(polygon, row * width + column);
    if (crossed) answer = answer_around(polygon);
    if (!touched_.empty()) {
      add_cell(polygon, row * width + column, begin + column);
      continue;
    }
    if (prepared[column]) {
      entry.kind = EntryKind::kPrepared;
      put(begin + column, entry);
      continue;
    }
    // A run of cells without marks.
    const uint32_t first = column;
    while (column + 1 < width && starts[column + 1] == starts[column + 2] && !prepared[column + 1]) ++column;
    if (answer == Answer::kOutside) continue;
    if (answer == Answer::kInside) {
      entry.kind = EntryKind::kWhole;
      entry.first_point = column - first + 1;
      put(begin + first, entry);
      entry.first_point = 0;
      continue;
    }
    entry.kind = EntryKind::kPrepared;
    for (uint32_t k = first; k <= column; ++k) put(begin + k, entry);
  }
}

}  // namespace strom::geo
