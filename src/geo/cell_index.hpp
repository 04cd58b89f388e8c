// An index over many (multi)polygons: which of them contain a point? Bytes that can be copied anywhere (an image), made
// by build_cell_index.hpp and read on all platforms.
//
// A grid lies over all polygons. A cell has an entry for each polygon that reaches it. If the whole cell lies in the
// polygon, every point is a hit, and no edge is looked at. If edges run through the cell, the entry has these edges and
// the windings of their ring around the cell's anchor, a point of the cell. On the way from the anchor to the point,
// first upright, then level, each edge that is crossed changes the windings by one. So a point costs a look at the few
// edges of a cell, however many the polygon has. Where several rings meet, or rounding could matter, the prepared
// polygon answers.
//
// The answers are those of PreparedPolygon::locate(). Single source.
#pragma once

#include "geo/prepared_polygon.hpp"

namespace strom::geo {

enum class EntryKind : uint8_t {
  kWhole,    // every point of the cell is inside
  kEdges,    // edges of one ring
  kPrepared  // ask the prepared polygon
};

/// A cell is one word. If a single polygon has an entry there and covers the whole cell: kWholeCell and the polygon's
/// number. Otherwise the cell's first entry; 0 without an entry.
inline constexpr uint32_t kWholeCell = uint32_t{1} << 31;

/// A polygon in a cell. Edges that are not consecutive have several consecutive entries, all but the last with `more`.
struct CellEntry {
  uint32_t polygon;
  uint32_t first_point;  // of its first edge: offset in the image divided by the size of a point
  uint16_t edges;        // edges from this many points to their successors
  int8_t windings;       // of the ring around the cell's anchor, a point of the cell
  EntryKind kind : 2;
  uint8_t hole : 1;  // a point that the ring does not wind around is inside
  uint8_t more : 1;
  uint8_t last : 1;  // of the cell
};
static_assert(sizeof(CellEntry) == 12);

/// What the image begins with. Offsets are bytes from the image's begin, which is at a multiple of 16.
struct CellIndexHeader {
  int64_t size;
  uint16_t version;
  uint8_t everywhere;       // some polygon has no finite box: PostGIS decides about every point
  uint8_t mixed_srid;       // the polygons have different SRIDs
  int32_t srid;             // of all polygons, unless mixed_srid
  Box box;                  // points outside are in no polygon
  double scale_x, scale_y;  // cells for each unit
  double step_x, step_y;    // the size of a cell
  int32_t columns, rows;
  uint32_t polygons, entries;  // the first entry is not used
  int64_t cells_at;            // the first entry of each cell, row by row, and of the end of the last
  int64_t entries_at;
  int64_t prepared_at;  // offsets of the prepared polygons
};

class CellIndex {
 public:
  static constexpr uint16_t kVersion = 1;

  STROM_BASE_INLINE explicit CellIndex(const char* image) : image_(image) {}

  STROM_BASE_INLINE const CellIndexHeader& header() const { return *at<CellIndexHeader>(0); }
  STROM_BASE_INLINE const uint32_t* cells() const { return at<uint32_t>(header().cells_at); }
  STROM_BASE_INLINE const CellEntry* entries() const { return at<CellEntry>(header().entries_at); }
  STROM_BASE_INLINE PreparedPolygon prepared(uint32_t polygon) const {
    return PreparedPolygon(image_ + at<int64_t>(header().prepared_at)[polygon]);
  }
  STROM_BASE_INLINE const Point* edge(const CellEntry& entry) const {
    return at<Point>(static_cast<int64_t>(entry.first_point) * static_cast<int64_t>(sizeof(Point)));
  }

  /// True when PostGIS has to decide about the point and all polygons.
  STROM_BASE_INLINE bool is_undecided(Point p) const { return header().everywhere != 0 || !is_finite(p); }

  static constexpr uint32_t kNoCell = UINT32_MAX;
  /// The cell of a finite point, kNoCell for points outside of the box.
  STROM_BASE_INLINE uint32_t cell_of(Point p) const {
    const CellIndexHeader& h = header();
    if (!h.box.contains(p)) return kNoCell;
    const auto column = static_cast<int32_t>((p.x - h.box.min_x) * h.scale_x);
    const auto row = static_cast<int32_t>((p.y - h.box.min_y) * h.scale_y);
    return static_cast<uint32_t>(row < h.rows ? row : h.rows - 1) * static_cast<uint32_t>(h.columns) +
           static_cast<uint32_t>(column < h.columns ? column : h.columns - 1);
  }
  /// The point of the cell from which windings are counted. It is not the middle, because edges of rectangles often go
  /// through middles.
  STROM_BASE_INLINE Point anchor_of(uint32_t cell) const {
    const auto columns = static_cast<uint32_t>(header().columns);
    return anchor_at(cell % columns, cell / columns);
  }
  STROM_BASE_INLINE Point anchor_at(uint32_t column, uint32_t row) const {
    const CellIndexHeader& h = header();
    return {h.box.min_x + (column + kAnchorX) * h.step_x, h.box.min_y + (row + kAnchorY) * h.step_y};
  }
  static constexpr double kAnchorX = 0.4837, kAnchorY = 0.5219;

  /// Candidates are polygons that reach a cell. kNoCandidate: there is no candidate, or no further one.
  static constexpr uint32_t kNoCandidate = 0;
  STROM_BASE_INLINE uint32_t first_candidate(uint32_t cell) const { return cells()[cell]; }
  STROM_BASE_INLINE uint32_t polygon_of(uint32_t candidate) const {
    return (candidate & kWholeCell) != 0 ? candidate & ~kWholeCell : entries()[candidate].polygon;
  }
  STROM_BASE_INLINE uint32_t next_candidate(uint32_t candidate) const {
    if (!has_entry(candidate)) return kNoCandidate;
    while (entries()[candidate].more) ++candidate;
    return entries()[candidate].last ? kNoCandidate : candidate + 1;
  }
  /// False: the candidate is a polygon that covers the whole cell, or none.
  STROM_BASE_INLINE bool has_entry(uint32_t candidate) const {
    return (candidate & kWholeCell) == 0 && candidate != kNoCandidate;
  }

  /// Where `p`, a point of `cell`, lies relative to the candidate. Moves *candidate to the next one.
  STROM_BASE_INLINE Answer answer(uint32_t cell, Point p, uint32_t* candidate) const {
    const uint32_t asked = *candidate;
    *candidate = next_candidate(asked);
    if (!has_entry(asked)) return Answer::kInside;
    const CellEntry* entry = entries() + asked;
    if (entry->kind == EntryKind::kWhole) return Answer::kInside;
    if (entry->kind == EntryKind::kPrepared) return prepared(entry->polygon).locate(p);
    CellWalk walk(anchor_of(cell), p, entry->windings, kNear * header().step_x);
    const bool hole = entry->hole;
    walk.add_edges(edge(*entry), entry->edges);
    while (entry->more) {
      ++entry;
      walk.add_edges(edge(*entry), entry->edges);
    }
    return walk.is_clear() ? walk.answer(hole) : prepared(entry->polygon).locate(p);
  }

  /// f(polygon, answer) for each polygon that `p` is not outside of, in the order of the polygons. NaN and infinities
  /// are outside here; PostGIS has to decide about them.
  template <class F>
  STROM_BASE_INLINE void for_each_polygon(Point p, F&& f) const {
    const uint32_t cell = cell_of(p);
    if (cell == kNoCell) return;
    for (uint32_t candidate = first_candidate(cell); candidate != kNoCandidate;) {
      const uint32_t polygon = polygon_of(candidate);
      const Answer found = answer(cell, p, &candidate);
      if (found != Answer::kOutside) f(polygon, found);
    }
  }

 private:
  /// The way from the anchor of a cell to a point, and the crossings on it.
  class CellWalk {
   public:
    STROM_BASE_INLINE CellWalk(Point anchor, Point p, int32_t windings, double near)
        : anchor_(anchor),
          p_(p),
          corner_{anchor.x, p.y},
          left_(smaller(anchor.x, p.x)),
          right_(larger(anchor.x, p.x) + near),
          windings_(windings) {}

    STROM_BASE_INLINE void add_edges(const Point* points, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) add_edge(points[i], points[i + 1]);
    }
    /// True when no edge is so near that its side is doubtful, and the ring covers no part of the plane twice.
    STROM_BASE_INLINE bool is_clear() const { return !doubtful_ && windings_ >= -1 && windings_ <= 1; }
    STROM_BASE_INLINE Answer answer(bool hole) const {
      if (boundary_) return Answer::kBoundary;
      return (windings_ != 0) != hole ? Answer::kInside : Answer::kOutside;
    }

   private:
    STROM_BASE_INLINE void add_edge(Point a, Point b) {
      if (larger(a.x, b.x) < left_ || smaller(a.x, b.x) > right_) return;
      const double low = smaller(a.y, b.y), high = larger(a.y, b.y);
      const bool reaches = low <= p_.y && p_.y <= high;
      const bool upright = (a.x <= anchor_.x) != (b.x <= anchor_.x) && low <= larger(anchor_.y, p_.y) &&
                           high >= smaller(anchor_.y, p_.y);
      if (!reaches && !upright) return;
      const Side corner = agreed_side(a, b, corner_);
      if (upright) cross(agreed_side(a, b, anchor_), corner);
      if (!reaches) return;
      const Side side = agreed_side(a, b, p_);
      if (side == Side::kOn && smaller(a.x, b.x) <= p_.x && p_.x <= larger(a.x, b.x))
        boundary_ = true;
      else if ((a.y <= p_.y) != (b.y <= p_.y))
        cross(corner, side);
      else if (side == Side::kUnknown)
        doubtful_ = true;
    }
    STROM_BASE_INLINE void cross(Side before, Side after) {
      if (before == Side::kOn || before == Side::kUnknown || after == Side::kOn || after == Side::kUnknown)
        doubtful_ = true;
      else if (before != after)
        windings_ += after == Side::kLeft ? 1 : -1;
    }

    Point anchor_, p_, corner_;
    double left_, right_;
    int32_t windings_;
    bool boundary_ = false, doubtful_ = false;
  };

  /// The distance, in steps of cells, below which rounded arithmetic is doubtful: edges are at most 2^15 long.
  static constexpr double kNear = 1e-9;

  template <class T>
  STROM_BASE_INLINE const T* at(int64_t offset) const {
    return reinterpret_cast<const T*>(image_ + offset);
  }

  const char* image_;
};

}  // namespace strom::geo
