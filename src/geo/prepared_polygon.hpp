// A (multi)polygon prepared for many points: where does a point lie? Bytes that can be copied anywhere (an image), made
// by prepare_polygon.hpp and read on all platforms.
//
// Two structures answer. A raster of cells over the polygon's box has the answer for most points. For a point in a cell
// that an edge touches, the stripes have it: the box is divided by height into stripes, and each stripe lists the edges
// that reach it as runs of consecutive points, ring by ring. So a point costs a look at a byte, or at a few edges,
// however many the polygon has. Single source.
#pragma once

#include "geo/ring_tally.hpp"

namespace strom::geo {

/// A closed ring of the points first_point … first_point + count - 1. The last point equals the first.
struct PreparedRing {
  uint32_t first_point, count;
  int32_t part;
  uint32_t shell;
};

/// Edges of one ring: from each of `count` points, beginning at `first_point` of all points, to its successor.
struct EdgeRun {
  uint32_t first_point, count, ring;
};

/// The beginning of the image. Offsets are bytes from the image's begin, which is at a multiple of 8. Points begin at a
/// multiple of their size.
struct PreparedHeader {
  static constexpr uint64_t kMagic = 0x796C6F5067656F31;
  uint64_t magic;
  int64_t size;
  int32_t srid;
  uint8_t decidable;    // 0: PostGIS decides about every point
  uint8_t raster_bits;  // cells on a side: 1 << raster_bits; 0: no raster
  uint16_t version;
  Box box;
  double left;                        // points with a smaller x are outside
  double stripe_scale;                // stripes for each unit of y
  double cell_scale_x, cell_scale_y;  // cells for each unit
  uint32_t rings, points, stripes, runs;
  int64_t rings_at, points_at, stripes_at, runs_at, cells_at;
};

class PreparedPolygon {
 public:
  static constexpr uint16_t kVersion = 1;
  /// A cell that an edge touches. Other cells have the Answer for all their points.
  static constexpr uint8_t kBorder = 0xFF;

  STROM_BASE_INLINE explicit PreparedPolygon(const char* image) : image_(image) {}

  /// False: the bytes are certainly no image. True does not prove that they are one.
  STROM_BASE_INLINE static bool is_image(const char* bytes, int64_t size) {
    if (size < static_cast<int64_t>(sizeof(PreparedHeader)) || reinterpret_cast<uintptr_t>(bytes) % 8 != 0)
      return false;
    const auto& h = *reinterpret_cast<const PreparedHeader*>(bytes);
    return h.magic == PreparedHeader::kMagic && h.version == kVersion && h.size == size;
  }

  STROM_BASE_INLINE const PreparedHeader& header() const { return *at<PreparedHeader>(0); }
  STROM_BASE_INLINE const Point* points() const { return at<Point>(header().points_at); }
  STROM_BASE_INLINE const PreparedRing* rings() const { return at<PreparedRing>(header().rings_at); }
  /// The first run of each stripe, and of one behind the last.
  STROM_BASE_INLINE const uint32_t* stripes() const { return at<uint32_t>(header().stripes_at); }
  STROM_BASE_INLINE const EdgeRun* runs() const { return at<EdgeRun>(header().runs_at); }
  STROM_BASE_INLINE const uint8_t* cells() const { return at<uint8_t>(header().cells_at); }

  /// All finite points outside of this box are outside of the polygon.
  STROM_BASE_INLINE Box reach() const {
    const PreparedHeader& h = header();
    return {h.left, h.box.min_y, h.box.max_x, h.box.max_y};
  }

  STROM_BASE_INLINE Answer locate(Point p) const {
    const PreparedHeader& h = header();
    if (!h.decidable || !is_finite(p)) return Answer::kUncertain;
    if (!(p.x >= h.left && p.x <= h.box.max_x && p.y >= h.box.min_y && p.y <= h.box.max_y)) return Answer::kOutside;
    if (h.raster_bits != 0 && p.x >= h.box.min_x) {
      const uint8_t cell = cells()[cell_of(p)];
      if (cell != kBorder) return static_cast<Answer>(cell);
    }
    return locate_by_edges(p);
  }

  /// Locates without the raster. The polygon is decidable, and `p` lies at a height of its box.
  STROM_BASE_INLINE Answer locate_by_edges(Point p) const {
    RingTally tally;
    for_each_ring(p, [&](uint32_t ring, const RingWinding& winding) {
      tally.add(rings()[ring].part, rings()[ring].shell != 0, winding);
    });
    return tally.answer();
  }

  /// f(ring, its windings around p) for each ring that reaches p's height, in order.
  template <class F>
  STROM_BASE_INLINE void for_each_ring(Point p, F&& f) const {
    const uint32_t stripe = stripe_of(p.y);
    const uint32_t end = stripes()[stripe + 1];
    RingWinding winding;
    for (uint32_t i = stripes()[stripe]; i < end; ++i) {
      const EdgeRun run = runs()[i];
      const Point* point = points() + run.first_point;
      for (uint32_t k = 0; k < run.count; ++k) winding.add_edge(point[k], point[k + 1], p);
      if (i + 1 == end || runs()[i + 1].ring != run.ring) {
        f(run.ring, winding);
        winding = RingWinding();
      }
    }
  }

  /// The stripe of a height. It never falls when y grows.
  STROM_BASE_INLINE uint32_t stripe_of(double y) const {
    return below((y - header().box.min_y) * header().stripe_scale, header().stripes);
  }
  STROM_BASE_INLINE uint32_t cell_of(Point p) const {
    const PreparedHeader& h = header();
    const uint32_t side = 1u << h.raster_bits;
    return below((p.y - h.box.min_y) * h.cell_scale_y, side) * side + below((p.x - h.box.min_x) * h.cell_scale_x, side);
  }

 private:
  template <class T>
  STROM_BASE_INLINE const T* at(int64_t offset) const {
    return reinterpret_cast<const T*>(image_ + offset);
  }
  /// The whole part of `value`, clamped to 0 … count - 1.
  STROM_BASE_INLINE static uint32_t below(double value, uint32_t count) {
    return value > 0 ? value < count ? static_cast<uint32_t>(value) : count - 1 : 0;
  }

  const char* image_;
};

}  // namespace strom::geo
