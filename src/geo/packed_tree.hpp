// A tree over points or boxes whose nodes lie one behind the other: which of them are near a point, or overlap a box?
// Bytes that can be copied anywhere (an image), made by build_packed_tree.hpp and read on all platforms.
//
// The items are in the order of a curve that fills the plane (Hilbert's), so that neighbours in it are neighbours in
// the plane. Each group of kTreeWidth items has a box, each group of so many boxes has one again, up to a single group.
// A search goes to the first box of a group that it may find something in. It needs no stack: the number of an item
// says which groups it is in. So a search goes on from any item. Single source.
#pragma once

#include <math.h>

#include "geo/point.hpp"

namespace strom::geo {

inline constexpr uint32_t kTreeWidth = 16;
inline constexpr int kTreeLevels = 8;  // enough for 2^32 items

/// Boxes of neighbours. Those behind the last are empty, and nothing is near them.
struct BoxGroup {
  float min_x[kTreeWidth], min_y[kTreeWidth], max_x[kTreeWidth], max_y[kTreeWidth];
  float reach[kTreeWidth];  // the largest one below; of trees that have them
};

/// Points of neighbours; NaN behind the last.
struct PointGroup {
  double x[kTreeWidth], y[kTreeWidth];
};

/// Offsets are bytes from the image's begin.
struct TreeHeader {
  uint32_t items;
  uint8_t has_points;              // the items are points, else boxes
  uint8_t has_reach;               // each item has a distance of its own
  int32_t top;                     // the level with one group; items are level 0
  int64_t groups_at[kTreeLevels];  // of level 0 PointGroup or BoxGroup, else BoxGroup
  int64_t rows_at;                 // the row of each item
  int64_t reach_at;                // of each item; 0 without
};

/// What is at most `distance` away from a point, as PostGIS computes it: the root of the sum of squares, rounded at
/// each step.
struct NearQuery {
  Point point;
  double distance;  // of queries of trees without reach; at least 0 and below kLeastTooFar
  double limit;     // squares of all such distances are at most so much

  /// Distances from here on are other ones in some versions of PostGIS.
  static constexpr double kLeastTooFar = 3.4028234663852886e38;
  STROM_BASE_INLINE static double limit_of(double distance) {
    constexpr double kRounding = 1e-14, kLeastSquare = 1e-320;  // squares of small numbers have few bits
    return distance * distance * (1 + kRounding) + kLeastSquare;
  }
  STROM_BASE_INLINE static bool is_distance(double distance) { return distance >= 0 && distance < kLeastTooFar; }
  STROM_BASE_INLINE static NearQuery of(Point point, double distance) { return {point, distance, limit_of(distance)}; }
  /// Rounding keeps the order of numbers, so what is in a box is not nearer than the box by this arithmetic.
  STROM_BASE_INLINE static double square(double dx, double dy) { return dx * dx + dy * dy; }
};

class PackedTree {
 public:
  /// `header` is in the image.
  STROM_BASE_INLINE PackedTree(const char* image, const TreeHeader& header) : image_(image), header_(header) {}

  static constexpr uint32_t kNone = UINT32_MAX;
  STROM_BASE_INLINE uint32_t items() const { return header_.items; }
  STROM_BASE_INLINE uint32_t row(uint32_t item) const { return at<uint32_t>(header_.rows_at)[item]; }
  STROM_BASE_INLINE Point point(uint32_t item) const {
    const PointGroup& group = at<PointGroup>(header_.groups_at[0])[item / kTreeWidth];
    return {group.x[item % kTreeWidth], group.y[item % kTreeWidth]};
  }
  STROM_BASE_INLINE double reach(uint32_t item) const { return at<double>(header_.reach_at)[item]; }

  /// The first item from number `item` on that is as near as the query says, or is near by its own distance where the
  /// tree has reach. Boxes are taken for near when something in them may be. kNone: there is none.
  STROM_BASE_INLINE uint32_t find_near(const NearQuery& query, uint32_t item) const {
    return find(
        item, [&](const BoxGroup& group, uint32_t i) { return is_near(query, group, i); },
        [&](const PointGroup& points, uint32_t group, uint32_t i) { return is_near(query, points, group, i); });
  }

  /// The first item from number `item` on that shares a point with the box, whose numbers are floats; of a tree with
  /// reach or of points a superset of what can be so near to something in the box.
  STROM_BASE_INLINE uint32_t find_overlapping(const Box& box, uint32_t item) const {
    return find(
        item, [&](const BoxGroup& group, uint32_t i) { return overlaps(box, group, i); },
        [&](const PointGroup& points, uint32_t group, uint32_t i) { return overlaps(box, points, group, i); });
  }

 private:
  /// Distances are rounded, so that one can be a little larger than it is computed.
  static constexpr double kMoreReach = 1 + 1e-6;

  template <class T>
  STROM_BASE_INLINE const T* at(int64_t offset) const {
    return reinterpret_cast<const T*>(image_ + offset);
  }

  /// `of_boxes` and `of_points` say whether a member of a group is a candidate.
  template <class Boxes, class Points>
  STROM_BASE_INLINE uint32_t find(uint32_t item, Boxes&& of_boxes, Points&& of_points) const {
    if (item >= header_.items) return kNone;
    int level = 0;
    uint32_t node = item;
    for (;;) {
      while (node % kTreeWidth == 0 && level < header_.top) {  // a whole group is next: ask its box first
        node /= kTreeWidth;
        ++level;
      }
      if (level == header_.top && node >= kTreeWidth) return kNone;
      for (;; --level, node *= kTreeWidth) {
        const uint32_t group = node / kTreeWidth;
        uint32_t member = node % kTreeWidth;
        if (level == 0 && header_.has_points != 0) {
          const PointGroup& points = at<PointGroup>(header_.groups_at[0])[group];
          while (member < kTreeWidth && !of_points(points, group, member)) ++member;
        } else {
          const BoxGroup& boxes = at<BoxGroup>(header_.groups_at[level])[group];
          while (member < kTreeWidth && !of_boxes(boxes, member)) ++member;
        }
        if (member == kTreeWidth) {
          if (level == header_.top) return kNone;
          node = group + 1;
          ++level;
          break;
        }
        node = group * kTreeWidth + member;
        if (level == 0) return node;
      }
    }
  }

  STROM_BASE_INLINE static double away(float low, float high, double at) {
    const double below = low - at, above = at - high;
    return larger(larger(below, above), 0.0);
  }
  STROM_BASE_INLINE bool is_near(const NearQuery& query, const BoxGroup& group, uint32_t i) const {
    const double dx = away(group.min_x[i], group.max_x[i], query.point.x);
    const double dy = away(group.min_y[i], group.max_y[i], query.point.y);
    const double limit = header_.has_reach != 0 ? NearQuery::limit_of(group.reach[i]) : query.limit;
    return NearQuery::square(dx, dy) <= limit;
  }
  STROM_BASE_INLINE bool is_near(const NearQuery& query, const PointGroup& points, uint32_t group, uint32_t i) const {
    const double square = NearQuery::square(points.x[i] - query.point.x, points.y[i] - query.point.y);
    if (header_.has_reach == 0) return square <= query.limit && sqrt(square) <= query.distance;
    const uint32_t item = group * kTreeWidth + i;
    return item < header_.items && sqrt(square) <= reach(item);
  }
  STROM_BASE_INLINE bool overlaps(const Box& box, const BoxGroup& group, uint32_t i) const {
    const double own = header_.has_reach != 0 ? group.reach[i] * kMoreReach : 0;
    return group.min_x[i] - own <= box.max_x && box.min_x <= group.max_x[i] + own &&
           group.min_y[i] - own <= box.max_y && box.min_y <= group.max_y[i] + own;
  }
  STROM_BASE_INLINE bool overlaps(const Box& box, const PointGroup& points, uint32_t group, uint32_t i) const {
    const uint32_t item = group * kTreeWidth + i;
    if (item >= header_.items) return false;
    const double own = header_.has_reach != 0 ? reach(item) * kMoreReach : 0;
    return points.x[i] - own <= box.max_x && box.min_x <= points.x[i] + own && points.y[i] - own <= box.max_y &&
           box.min_y <= points.y[i] + own;
  }

  const char* image_;
  const TreeHeader& header_;
};

/// What an image begins with.
struct TreeIndexHeader {
  int64_t size;
  uint32_t rows;       // all of them, in the trees or not
  uint8_t everywhere;  // some row has no finite box: PostGIS decides about every pair
  uint8_t mixed_srid;  // the rows have different SRIDs
  uint8_t any;         // there is a geometry
  uint8_t far_points;  // for joins by distance: some point does not fit floats
  int32_t srid;        // of all rows, otherwise
  TreeHeader points;   // rows that are points
  TreeHeader boxes;    // for joins by distance: rows that PostGIS decides about
  int64_t items_at;    // the item of each row in its tree, PackedTree::kNone for none
};

/// Of the rows of a join's inner side.
class TreeIndex {
 public:
  STROM_BASE_INLINE explicit TreeIndex(const char* image) : image_(image) {}
  STROM_BASE_INLINE const TreeIndexHeader& header() const { return *reinterpret_cast<const TreeIndexHeader*>(image_); }
  STROM_BASE_INLINE PackedTree points() const { return PackedTree(image_, header().points); }
  STROM_BASE_INLINE PackedTree boxes() const { return PackedTree(image_, header().boxes); }
  STROM_BASE_INLINE uint32_t item(uint32_t row) const {
    return reinterpret_cast<const uint32_t*>(image_ + header().items_at)[row];
  }

 private:
  const char* image_;
};

}  // namespace strom::geo
