// Writes geometries in PostGIS's stored form (its second version), with the same bytes that PostGIS would store. For
// columns of files that hold geometries in other forms (format/geoarrow). serialized.hpp reads the form.
#pragma once

#include <cstdint>
#include <vector>

#include "geo/geometry.hpp"

namespace strom::geo {

/// Bytes that grow at the end.
using Bytes = std::vector<char>;

/// Writes one geometry after another: begin(), its parts in order, finish(). Parts are points, lines, polygons and
/// collections. The points of a part follow its begin, the members of a collection follow the collection. Not
/// thread-safe. Throws std::bad_alloc.
class StoredForm {
 public:
  void begin(bool has_z, bool has_m);
  /// kPoint (with one point, or none) or kLine.
  void begin_path(GeometryType type, uint32_t points);
  /// The points of all rings follow, ring by ring.
  void begin_polygon(const uint32_t* ring_points, uint32_t rings);
  void begin_collection(GeometryType type, uint32_t members);
  /// `numbers` has as many numbers as the geometry has dimensions.
  void add_point(const double* numbers);
  /// Appends the bytes that PostgreSQL stores behind a varlena's header. `srid` 0: unknown.
  void finish(int32_t srid, Bytes* out);

  int dimensions() const { return dimensions_; }

  static constexpr int kMostDimensions = 4;

 private:
  struct Extent {
    double low[kMostDimensions], high[kMostDimensions];
    bool is_empty = true;
  };
  void put_word(uint32_t word);
  void begin_part(GeometryType type, uint32_t count);
  void close_path();
  bool has_box() const;

  Bytes body_;
  Extent path_, whole_;
  int dimensions_ = 2;
  bool has_z_ = false, has_m_ = false;
  int64_t left_ = 0;      // points of the shell that are still missing
  int64_t points_ = 0;    // of the whole geometry
  bool is_first_ = true;  // no part has begun
  GeometryType type_ = GeometryType::kPoint;
  uint32_t members_ = 0;
};

/// The geometries that a column's type allows.
struct Expected {
  GeometryType type = GeometryType::kCollection;
  bool any = true;  // true: all types and dimensions; false: only `type` with these dimensions
  bool has_z = false, has_m = false;

  bool operator==(const Expected&) const = default;
};

/// Appends the stored form of well-known binary of any kind: the standard's and PostGIS's, in both byte orders. `srid`
/// applies where the bytes have none. Input that PostGIS rejects is rejected. Returns nullptr, or what is wrong; then
/// `out` is unchanged.
const char* store_wkb(const char* bytes, int64_t size, int32_t srid, const Expected& expected, StoredForm* form,
                      Bytes* out);

}  // namespace strom::geo
