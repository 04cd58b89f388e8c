// The edges of a polygon or of lines in blocks of neighbours, each with a box, so that the edges near another edge are
// found without a look at all of them. Has no memory of its own: it refers to the bytes of the geometry. Single source.
#pragma once

#include "geo/float_box.hpp"
#include "geo/prepared_polygon.hpp"

namespace strom::geo {

struct Edge {
  Point a, b;
  int32_t ring, index;  // the edge from the ring's point `index` to the next one

  STROM_BASE_INLINE Box box() const {
    return {smaller(a.x, b.x), smaller(a.y, b.y), larger(a.x, b.x), larger(a.y, b.y)};
  }
};

class EdgeBlocks {
 public:
  struct Ring {  // or a line
    Coordinates points;
    int32_t count;  // points
    int32_t part;
    bool shell, turns, interior_left;  // turns: interior_left is certain
    bool repeats;                      // a point comes twice in a row
  };

  /// False: the geometry is empty, is neither polygon nor line, has too many rings, or PostGIS has to decide about it
  /// for other reasons.
  STROM_BASE_INLINE bool read(const SerializedGeometry& geometry) {
    area_ = is_polygonal(geometry.type());
    if (!area_ && geometry.type() != GeometryType::kLine && geometry.type() != GeometryType::kMultiLine) return false;
    SerializedPaths paths(geometry);
    Path path;
    Step step;
    while ((step = paths.next(&path)) == Step::kPath) {
      const bool known = path.type == (area_ ? GeometryType::kPolygon : GeometryType::kLine);
      if (!known || path.count > kMostPoints) return false;
      if (!add_ring(path.points, static_cast<int32_t>(path.count), path.part, path.ring == 0)) return false;
    }
    return step == Step::kEnd && make_blocks();
  }
  STROM_BASE_INLINE bool read(const PreparedPolygon& polygon) {
    const PreparedHeader& h = polygon.header();
    area_ = true;
    if (!h.decidable || h.points > kMostPoints) return false;
    for (uint32_t i = 0; i < h.rings; ++i) {
      const PreparedRing& ring = polygon.rings()[i];
      const Coordinates points{reinterpret_cast<const char*>(polygon.points() + ring.first_point), 2, false};
      if (!add_ring(points, static_cast<int32_t>(ring.count), ring.part, ring.shell != 0)) return false;
    }
    return make_blocks();
  }

  STROM_BASE_INLINE int64_t edges() const { return edges_; }
  STROM_BASE_INLINE int64_t edges_of_block() const { return size_; }
  STROM_BASE_INLINE bool is_area() const { return area_; }
  STROM_BASE_INLINE const Box& box() const { return box_; }
  STROM_BASE_INLINE int32_t rings() const { return rings_; }
  STROM_BASE_INLINE const Ring& ring(int32_t number) const { return ring_[number]; }
  STROM_BASE_INLINE Point point(int32_t ring, int32_t index) const { return ring_[ring].points.point(index); }
  STROM_BASE_INLINE Edge edge(int32_t ring, int32_t index) const {
    return {point(ring, index), point(ring, index + 1), ring, index};
  }
  /// The neighbours of a vertex. The ring is closed and repeats no point.
  STROM_BASE_INLINE Point before(int32_t ring, int32_t index) const {
    return point(ring, index > 0 ? index - 1 : ring_[ring].count - 2);
  }
  STROM_BASE_INLINE Point behind(int32_t ring, int32_t index) const {
    return point(ring, index + 1 < ring_[ring].count ? index + 1 : 1);
  }

  /// f(edge) for each edge that has a length and whose box meets `near`, until f returns false. Returns the last
  /// answer of f.
  template <class F>
  STROM_BASE_INLINE bool for_edges(const Box& near, F&& f) const {
    for (int32_t i = 0; i < blocks_; ++i) {
      const Block& block = block_[i];
      if (block.min_x > near.max_x || block.max_x < near.min_x || block.min_y > near.max_y || block.max_y < near.min_y)
        continue;
      Point a = point(block.ring, block.first);
      for (int32_t k = 0; k < block.edges; ++k) {
        const Point b = point(block.ring, block.first + k + 1);
        const Edge edge{a, b, block.ring, block.first + k};
        a = b;
        if (is_same(edge.a, b) || !edge.box().overlaps(near)) continue;
        if (!f(edge)) return false;
      }
    }
    return true;
  }

 private:
  struct Block {
    float min_x, min_y, max_x, max_y;
    int32_t first, edges, ring;
  };
#ifdef __CUDA_ARCH__
  static constexpr int32_t kMostRings = 4, kMostBlocks = 12;  // threads have little memory
#else
  static constexpr int32_t kMostRings = 32, kMostBlocks = 64;
#endif
  static constexpr int32_t kMostPoints = 1 << 20;

  STROM_BASE_INLINE bool add_ring(const Coordinates& points, int32_t count, int32_t part, bool shell) {
    if (count == 0) return !area_ || shell;  // an empty part
    const int32_t least = area_ ? 4 : 2;
    if (count < least || rings_ == kMostRings) return false;
    Ring ring{points, count, part, shell, false, false, false};
    int32_t lowest = 0;
    Point corner = points.point(0), a = corner;
    Box box = Box::empty();
    for (int32_t i = 0; i < count; ++i) {
      const Point p = points.point(i);
      if (!is_small(p) || !is_exact(p)) return false;
      if (i > 0 && is_same(a, p)) ring.repeats = true;
      if (i + 1 < count && (p.x < corner.x || (p.x == corner.x && p.y < corner.y))) {
        lowest = i;
        corner = p;
      }
      box.add(p);
      a = p;
    }
    if (area_ && !is_same(points.point(0), a)) return false;
    if (box.min_x == box.max_x && box.min_y == box.max_y) return false;  // GEOS takes it for a point
    if (shell) shell_box_ = box;
    if (!shell_box_.contains(box)) return false;  // GEOS's box of a polygon is that of its shells
    box_.add(box);
    ring_[rings_++] = ring;
    edges_ += count - 1;
    if (!area_) return true;
    const Side side = agreed_side(before(rings_ - 1, lowest), corner, behind(rings_ - 1, lowest));
    ring_[rings_ - 1].interior_left = (side == Side::kLeft) == shell;
    ring_[rings_ - 1].turns = side == Side::kLeft || side == Side::kRight;
    return true;
  }

  STROM_BASE_INLINE bool make_blocks() {
    if (rings_ == 0) return false;
    constexpr int32_t kLeastEdges = 8;
    const int32_t most = kMostBlocks - rings_;
    size_ = larger_of((edges_ + most - 1) / most, kLeastEdges);
    for (int32_t r = 0; r < rings_; ++r)
      for (int32_t first = 0; first + 1 < ring_[r].count; first += size_) {
        const int32_t left = ring_[r].count - 1 - first, edges = left < size_ ? left : size_;
        Box box = Box::empty();
        for (int32_t i = 0; i <= edges; ++i) box.add(point(r, first + i));
        block_[blocks_++] = {float_beside(box.min_x, true),
                             float_beside(box.min_y, true),
                             float_beside(box.max_x, false),
                             float_beside(box.max_y, false),
                             first,
                             edges,
                             r};
      }
    return true;
  }
  STROM_BASE_INLINE static int32_t larger_of(int32_t a, int32_t b) { return a > b ? a : b; }

  Ring ring_[kMostRings];
  Block block_[kMostBlocks];
  Box box_ = Box::empty(), shell_box_ = Box::empty();
  int32_t rings_ = 0, blocks_ = 0, edges_ = 0, size_ = 0;
  bool area_ = false;
};

/// False: PostGIS has to decide about the geometry.
STROM_GEO_APART bool read_edges(const SerializedGeometry& geometry, EdgeBlocks* out) { return out->read(geometry); }
STROM_GEO_APART bool read_edges(const PreparedPolygon& polygon, EdgeBlocks* out) { return out->read(polygon); }

inline constexpr int32_t kNoRing = -1;
/// Where a point lies relative to a polygon without the ring `without` (if it is a hole) or without its part (if a
/// shell).
STROM_GEO_APART Answer locate_in(const EdgeBlocks& area, Point p, int32_t without) {
  RingTally tally;
  for (int32_t r = 0; r < area.rings(); ++r) {
    const EdgeBlocks::Ring& ring = area.ring(r);
    if (without != kNoRing && (r == without || (area.ring(without).shell && ring.part == area.ring(without).part)))
      continue;
    RingWinding winding;
    Point a = ring.points.point(0);
    for (int32_t i = 1; i < ring.count; ++i) {
      const Point b = ring.points.point(i);
      winding.add_edge(a, b, p);
      a = b;
    }
    tally.add(ring.part, ring.shell, winding);
  }
  return tally.answer();
}

}  // namespace strom::geo
