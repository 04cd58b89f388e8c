// Reads PostGIS's serialised geometry in place: the bytes behind its varlena header.
//
// The bytes begin with three bytes of SRID (21 bits, the first is the highest) and a byte of flags. In version 2, 8
// bytes of more flags follow if a flag says so. A box of floats follows if a flag says so: minimum and maximum of each
// dimension. Then comes the geometry: a word of type, and a word of count (points of a point or line, rings, members).
// A polygon has a word for the number of points of each ring, padded to 8 bytes. Coordinates are doubles. Members are
// geometries of the same form, one behind the other. So one loop reads the members of all levels.
//
// The bytes may be damaged or change while they are read: each word is loaded once and checked before use. Single
// source.
#pragma once

#include "geo/geometry.hpp"

namespace strom::geo {

/// The bytes of a geometry behind its varlena header. The header of the geometry itself has been checked.
class SerializedGeometry {
 public:
  STROM_BASE_INLINE SerializedGeometry() {}
  /// False when the bytes are no geometry of the plane.
  STROM_BASE_INLINE static bool open(const char* bytes, int64_t size, SerializedGeometry* geometry) {
    if (size < kHeader + kTypeAndCount) return false;
    const auto flags = static_cast<uint8_t>(bytes[3]);
    if ((flags & kGeodetic) != 0) return false;
    const int dimensions = 2 + ((flags & kHasZ) != 0) + ((flags & kHasM) != 0);
    int64_t at = kHeader;
    if ((flags & kVersion2) != 0 && (flags & kExtended) != 0) at += kMoreFlags;
    const int64_t box = at;
    if ((flags & kHasBox) != 0) at += 8 * dimensions;
    if (size < at + kTypeAndCount) return false;
    const auto type = base::load_unaligned<uint32_t>(bytes + at);
    if (type < 1 || type > static_cast<uint32_t>(GeometryType::kTin)) return false;
    *geometry = SerializedGeometry(bytes, size, flags, dimensions, box, at, static_cast<GeometryType>(type));
    return true;
  }

  STROM_BASE_INLINE GeometryType type() const { return type_; }
  STROM_BASE_INLINE bool has_z() const { return (flags_ & kHasZ) != 0; }
  STROM_BASE_INLINE bool has_m() const { return (flags_ & kHasM) != 0; }
  STROM_BASE_INLINE int32_t dimensions() const { return dimensions_; }
  /// 0: unknown.
  STROM_BASE_INLINE int32_t srid() const {
    const uint32_t bits = static_cast<uint32_t>(static_cast<uint8_t>(bytes_[0])) << 16 |
                          static_cast<uint32_t>(static_cast<uint8_t>(bytes_[1])) << 8 | static_cast<uint8_t>(bytes_[2]);
    return static_cast<int32_t>(bits << 11) >> 11;
  }
  /// The box of floats that is stored with all but the smallest geometries. False: no box is stored.
  STROM_BASE_INLINE bool stored_box(Box* box) const {
    if ((flags_ & kHasBox) == 0) return false;
    *box = {stored_float(0), stored_float(2), stored_float(1), stored_float(3)};
    return true;
  }

  STROM_BASE_INLINE const char* bytes() const { return bytes_; }
  STROM_BASE_INLINE int64_t size() const { return size_; }

 private:
  friend class SerializedPaths;
  static constexpr int64_t kHeader = 4, kMoreFlags = 8, kTypeAndCount = 8;  // bytes
  static constexpr uint8_t kHasZ = 1, kHasM = 2, kHasBox = 4, kGeodetic = 8, kExtended = 16, kVersion2 = 64;

  STROM_BASE_INLINE SerializedGeometry(const char* bytes, int64_t size, uint8_t flags, int32_t dimensions, int64_t box,
                                       int64_t at, GeometryType type)
      : bytes_(bytes), size_(size), box_(box), at_(at), dimensions_(dimensions), type_(type), flags_(flags) {}

  STROM_BASE_INLINE float stored_float(int index) const {
    union {
      uint32_t bits;
      float value;
    } both = {base::load_unaligned<uint32_t>(bytes_ + box_ + 4 * index)};
    return both.value;
  }

  const char* bytes_ = nullptr;
  int64_t size_ = 0, box_ = 0, at_ = 0;  // at_: where the type is
  int32_t dimensions_ = 2;
  GeometryType type_ = GeometryType::kCollection;
  uint8_t flags_ = 0;
};

enum class Step : uint8_t { kPath, kEnd, kDamaged };

/// Goes through the paths of a geometry, empty ones included.
class SerializedPaths {
 public:
  STROM_BASE_INLINE explicit SerializedPaths(const SerializedGeometry& geometry)
      : geometry_(geometry), at_(geometry.at_) {}

  STROM_BASE_INLINE Step next(Path* path) {
    if (rings_ > 0) return next_ring(path);
    while (members_ > 0) {
      if (left() < 8) return Step::kDamaged;
      const auto type = base::load_unaligned<uint32_t>(geometry_.bytes_ + at_);
      const auto count = base::load_unaligned<uint32_t>(geometry_.bytes_ + at_ + 4);
      if (type < 1 || type > static_cast<uint32_t>(GeometryType::kTin)) return Step::kDamaged;
      at_ += 8;
      --members_;
      type_ = static_cast<GeometryType>(type);
      if (type_ == GeometryType::kPolygon) {
        ++part_;
        if (!begin_rings(count)) return Step::kDamaged;
        if (rings_ > 0) return next_ring(path);
        *path = {type_, part_, 0, 0, coordinates()};
        return Step::kPath;
      }
      if (has_points(type_)) {
        ++part_;
        return take(path, 0, count);
      }
      members_ += count;
      if (members_ > left() / 8) return Step::kDamaged;  // a member has 8 bytes at least
    }
    return Step::kEnd;
  }

 private:
  STROM_BASE_INLINE static bool has_points(GeometryType type) {
    return type == GeometryType::kPoint || type == GeometryType::kLine || type == GeometryType::kCircularLine ||
           type == GeometryType::kTriangle;
  }
  STROM_BASE_INLINE int64_t left() const { return geometry_.size_ - at_; }
  STROM_BASE_INLINE Coordinates coordinates() const { return {geometry_.bytes_ + at_, geometry_.dimensions_, false}; }
  STROM_BASE_INLINE bool begin_rings(uint32_t count) {
    const int64_t words = (static_cast<int64_t>(count) + 1) / 2 * 2;
    if (4 * words > left()) return false;
    counts_ = at_;
    at_ += 4 * words;
    rings_ = count;
    ring_ = 0;
    return true;
  }
  STROM_BASE_INLINE Step next_ring(Path* path) {
    const auto count = base::load_unaligned<uint32_t>(geometry_.bytes_ + counts_ + 4 * static_cast<int64_t>(ring_));
    --rings_;
    return take(path, ring_++, count);
  }
  STROM_BASE_INLINE Step take(Path* path, int32_t ring, int64_t count) {
    const int64_t bytes = count * 8 * geometry_.dimensions_;
    if (bytes > left()) return Step::kDamaged;
    *path = {type_, part_, ring, count, coordinates()};
    at_ += bytes;
    return Step::kPath;
  }

  const SerializedGeometry& geometry_;
  int64_t at_, counts_ = 0;
  int64_t members_ = 1, rings_ = 0;
  int32_t part_ = -1, ring_ = 0;
  GeometryType type_ = GeometryType::kCollection;
};

/// Reads a geometry that is a single point. False: it is another geometry, or an empty point.
STROM_BASE_INLINE bool read_point(const SerializedGeometry& geometry, Point* point) {
  if (geometry.type() != GeometryType::kPoint) return false;
  SerializedPaths paths(geometry);
  Path path;
  if (paths.next(&path) != Step::kPath || path.count != 1) return false;
  *point = path.points.point(0);
  return true;
}

}  // namespace strom::geo
