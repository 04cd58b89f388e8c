// Reads well-known binary in place, in the forms of the standard, of PostGIS (EWKB: flags in the type, an SRID) and of
// GeoArrow.
//
// A geometry is a byte for the byte order, a word of type, an SRID if a flag says so, and the contents of the type. A
// point has its coordinates (NaN: an empty point). A line has a count of points and the points. A polygon has a count
// of rings, and each ring has a count of points and the points. A collection has a count of members, and the members
// are geometries. So one loop reads the members of all levels. Single source.
#pragma once

#include "geo/serialized.hpp"

namespace strom::geo {

class WkbPaths {
 public:
  STROM_BASE_INLINE WkbPaths(const char* bytes, int64_t size) : bytes_(bytes), size_(size) {}

  /// Of the outermost geometry. Valid once the first path was asked for.
  STROM_BASE_INLINE GeometryType type() const { return outermost_; }
  STROM_BASE_INLINE int32_t srid() const { return srid_; }

  STROM_BASE_INLINE Step next(Path* path) {
    if (rings_ > 0) return next_ring(path);
    while (members_ > 0) {
      --members_;
      uint32_t count = 1;
      if (!read_header()) return Step::kDamaged;
      if (type_ != GeometryType::kPoint && !read_word(&count)) return Step::kDamaged;
      if (type_ == GeometryType::kPoint) {
        ++part_;
        return take_point(path);
      }
      if (type_ == GeometryType::kLine || type_ == GeometryType::kCircularLine) {
        ++part_;
        return take(path, 0, count);
      }
      if (type_ == GeometryType::kPolygon || type_ == GeometryType::kTriangle) {
        ++part_;
        if (count > (size_ - at_) / 4) return Step::kDamaged;
        rings_ = count;
        ring_ = 0;
        if (rings_ > 0) return next_ring(path);
        *path = {type_, part_, 0, 0, coordinates()};
        return Step::kPath;
      }
      members_ += count;
      if (members_ > (size_ - at_) / kLeastMember) return Step::kDamaged;
    }
    return Step::kEnd;
  }

 private:
  static constexpr int64_t kLeastMember = 9;  // bytes
  static constexpr uint32_t kZ = 0x80000000, kM = 0x40000000, kSrid = 0x20000000;

  STROM_BASE_INLINE bool read_word(uint32_t* word) {
    if (size_ - at_ < 4) return false;
    *word = base::load_unaligned<uint32_t>(bytes_ + at_);
    if (swapped_) *word = *word >> 24 | (*word >> 8 & 0xFF00) | (*word << 8 & 0xFF0000) | *word << 24;
    at_ += 4;
    return true;
  }
  STROM_BASE_INLINE bool read_header() {
    if (size_ - at_ < 1 || static_cast<uint8_t>(bytes_[at_]) > 1) return false;
    swapped_ = bytes_[at_] == 0;
    ++at_;
    uint32_t word = 0, srid = 0;
    if (!read_word(&word)) return false;
    bool z = (word & kZ) != 0, m = (word & kM) != 0;
    if ((word & kSrid) != 0 && !read_word(&srid)) return false;
    word &= ~(kZ | kM | kSrid);
    if (word >= 4000) return false;
    z = z || word / 1000 == 1 || word / 1000 == 3;
    m = m || word / 1000 >= 2;
    word %= 1000;
    if (!set_type(word)) return false;
    dimensions_ = 2 + z + m;
    if (first_) {
      first_ = false;
      outermost_ = type_;
      srid_ = static_cast<int32_t>(srid);
    }
    return true;
  }
  STROM_BASE_INLINE bool set_type(uint32_t word) {
    constexpr uint32_t kCurves = static_cast<uint32_t>(GeometryType::kMultiSurface);
    if (word >= 1 && word <= kCurves)
      type_ = static_cast<GeometryType>(word);
    else if (word == 15)
      type_ = GeometryType::kPolyhedralSurface;
    else if (word == 16)
      type_ = GeometryType::kTin;
    else if (word == 17)
      type_ = GeometryType::kTriangle;
    else
      return false;
    return true;
  }
  STROM_BASE_INLINE Coordinates coordinates() const { return {bytes_ + at_, dimensions_, swapped_}; }
  STROM_BASE_INLINE Step next_ring(Path* path) {
    uint32_t count = 0;
    if (!read_word(&count)) return Step::kDamaged;
    --rings_;
    return take(path, ring_++, count);
  }
  STROM_BASE_INLINE Step take_point(Path* path) {
    const Step step = take(path, 0, 1);
    if (step != Step::kPath) return step;
    const Point point = path->points.point(0);
    if (point.x != point.x && point.y != point.y) path->count = 0;
    return step;
  }
  STROM_BASE_INLINE Step take(Path* path, int32_t ring, int64_t count) {
    const int64_t bytes = count * 8 * dimensions_;
    if (bytes > size_ - at_) return Step::kDamaged;
    *path = {type_, part_, ring, count, coordinates()};
    at_ += bytes;
    return Step::kPath;
  }

  const char* bytes_;
  int64_t size_, at_ = 0;
  int64_t members_ = 1, rings_ = 0;
  int32_t part_ = -1, ring_ = 0, dimensions_ = 2, srid_ = 0;
  GeometryType type_ = GeometryType::kCollection, outermost_ = GeometryType::kCollection;
  bool swapped_ = false, first_ = true;
};

}  // namespace strom::geo
