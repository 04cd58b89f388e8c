// A tree over points or boxes whose nodes lie one behind the other: which of them are near a point, or overlap a box?
// Bytes that can be copied anywhere (an image), made by build_packed_tree.hpp and read on all platforms.
//
// The items are in the order of a curve that fills the plane (Hilbert's), so neighbours in this order are neighbours in
// the plane. Each group of kTreeWidth items has a box, each group of kTreeWidth boxes has one, and so on up to a single
// group. A search goes to the first group whose box could hold a result. It needs no stack: an item's number tells
// which groups it is in. So a search can go on from any item. Single source.
#pragma once

#include "geo/near_members.hpp"

namespace strom::geo {

inline constexpr int kTreeLevels = 8;  // enough for 2^32 items

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

class PackedTree {
 public:
  /// `header` is a part of the image.
  STROM_BASE_INLINE PackedTree(const char* image, const TreeHeader& header) : image_(image), header_(header) {}

  static constexpr uint32_t kNone = UINT32_MAX;
  STROM_BASE_INLINE uint32_t items() const { return header_.items; }
  STROM_BASE_INLINE const uint32_t* rows() const { return at<uint32_t>(header_.rows_at); }
  STROM_BASE_INLINE uint32_t row(uint32_t item) const { return rows()[item]; }
  STROM_BASE_INLINE Point point(uint32_t item) const {
    const PointGroup* group = points_of(item);
    return {group->x[item % kTreeWidth], group->y[item % kTreeWidth]};
  }
  STROM_BASE_INLINE double reach(uint32_t item) const { return at<double>(header_.reach_at)[item]; }

  /// The first item from number `item` on that is as near as the query asks or, in a tree with reach, as near as the
  /// item's own distance. A box counts as near when something in it may be near. kNone: there is no such item.
  STROM_BASE_INLINE uint32_t find_near(const NearQuery& query, uint32_t item) const {
    if (header_.has_reach == 0) return find(Near{query}, item);
    return find(NearByReach{*this, query}, item);
  }

  /// For trees without reach: the first item of the group of points that find_near() looks at first; kNone when there
  /// is none.
  STROM_BASE_INLINE uint32_t first_group_near(const NearQuery& query) const { return find(NearGroup{{query}}, 0); }
  /// For trees of points without reach: the item that find_near() finds in the group of `item`, else the first item of
  /// the next group that find_near() looks at. kNone: there is neither.
  STROM_BASE_INLINE uint32_t find_in_group(const NearQuery& query, uint32_t item) const {
    const uint32_t member = first_near_point(*points_of(item), query, item % kTreeWidth);
    return member == kTreeWidth ? kNone : item - item % kTreeWidth + member;
  }
  STROM_BASE_INLINE uint32_t next_group_near(const NearQuery& query, uint32_t item) const {
    return find(NearGroup{{query}}, (item / kTreeWidth + 1) * kTreeWidth);
  }
  /// For trees of points.
  STROM_BASE_INLINE const PointGroup* points_of(uint32_t item) const {
    return at<PointGroup>(header_.groups_at[0]) + item / kTreeWidth;
  }

  /// The first item from number `item` on that shares a point with the box, whose numbers are floats. In a tree with
  /// reach or of points, a superset of the items that can be near enough to something in the box.
  STROM_BASE_INLINE uint32_t find_overlapping(const Box& box, uint32_t item) const {
    return find(Overlapping{*this, box}, item);
  }

 private:
  /// Distances are rounded, so a true distance can be a little larger than the computed one.
  static constexpr double kMoreReach = 1 + 1e-6;

  template <class T>
  STROM_BASE_INLINE const T* at(int64_t offset) const {
    return reinterpret_cast<const T*>(image_ + offset);
  }

  // Conditions of a search: each returns the first member of a group of boxes or points, from a number on, that may be
  // a result. kTreeWidth: none.

  struct Near {
    const NearQuery& query;
    STROM_BASE_INLINE uint32_t box(const BoxGroup& boxes, uint32_t member) const {
      return first_near_box(boxes, query, member);
    }
    STROM_BASE_INLINE uint32_t point(const PointGroup& points, uint32_t, uint32_t member) const {
      return first_near_point(points, query, member);
    }
  };
  /// Takes all points of a group that is near.
  struct NearGroup : Near {
    STROM_BASE_INLINE uint32_t point(const PointGroup&, uint32_t, uint32_t member) const { return member; }
  };
  struct NearByReach {
    const PackedTree& tree;
    const NearQuery& query;
    STROM_BASE_INLINE uint32_t box(const BoxGroup& boxes, uint32_t member) const {
      while (member < kTreeWidth &&
             !(square_to_box(boxes, member, query.point) <= NearQuery::limit_of(boxes.reach[member])))
        ++member;
      return member;
    }
    STROM_BASE_INLINE uint32_t point(const PointGroup& points, uint32_t group, uint32_t member) const {
      while (member < kTreeWidth && !is_near(points, group * kTreeWidth + member, member)) ++member;
      return member;
    }
    STROM_BASE_INLINE bool is_near(const PointGroup& points, uint32_t item, uint32_t member) const {
      return item < tree.items() && sqrt(square_to_point(points, member, query.point)) <= tree.reach(item);
    }
  };
  struct Overlapping {
    const PackedTree& tree;
    const Box& asked;
    STROM_BASE_INLINE uint32_t box(const BoxGroup& boxes, uint32_t member) const {
      while (member < kTreeWidth && !tree.overlaps(asked, boxes, member)) ++member;
      return member;
    }
    STROM_BASE_INLINE uint32_t point(const PointGroup& points, uint32_t group, uint32_t member) const {
      while (member < kTreeWidth && !tree.overlaps(asked, points, group, member)) ++member;
      return member;
    }
  };

  template <class Condition>
  STROM_BASE_INLINE uint32_t find(const Condition& condition, uint32_t item) const {
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
          member = condition.point(at<PointGroup>(header_.groups_at[0])[group], group, member);
        } else {
          member = condition.box(at<BoxGroup>(header_.groups_at[level])[group], member);
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
  int32_t srid;        // of all rows, unless mixed_srid
  TreeHeader points;   // rows that are points
  TreeHeader boxes;    // for joins by distance: rows that PostGIS decides about
};

/// An index over the rows of a join's inner side.
class TreeIndex {
 public:
  STROM_BASE_INLINE explicit TreeIndex(const char* image) : image_(image) {}
  STROM_BASE_INLINE const TreeIndexHeader& header() const { return *reinterpret_cast<const TreeIndexHeader*>(image_); }
  STROM_BASE_INLINE PackedTree points() const { return PackedTree(image_, header().points); }
  STROM_BASE_INLINE PackedTree boxes() const { return PackedTree(image_, header().boxes); }

 private:
  const char* image_;
};

}  // namespace strom::geo
