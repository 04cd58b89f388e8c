// Fields of Arrow schemas that hold geometries: GeoArrow's extension types (https://geoarrow.org), and ogc.wkb. Used to
// map fields to types and to read them as geometries.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "columnar/schema.hpp"
#include "geo/stored_form.hpp"

namespace strom::format::geoarrow {

/// How a field holds geometries. Plain data.
struct GeometryField {
  bool is_wkb = false;          // else lists and structs of numbers, with `expected`'s type and dimensions
  bool is_interleaved = false;  // true: coordinates are lists of fixed size; false: structs
  int32_t srid = 0;             // 0: unknown, or no EPSG code
  geo::Expected expected{};
};

/// nullopt: the extension type is not one that is read as geometries of the plane, or the field's parts do not fit it.
std::optional<GeometryField> geometry_field(const columnar::Field& field);

/// The field of boxes (columnar::is_box) of geometry field `field`: the field that GeoParquet's metadata name
/// (kCovering), or "NAME_bbox", or "bbox" if no other field holds geometries. -1: none.
int box_field(const columnar::Schema& schema, int field);

/// Metadata key of a field: the name of its field of boxes.
inline constexpr const char* kCovering = "strom:covering";

/// The EPSG code of a coordinate reference system in JSON: PROJJSON with an id, or a string like "EPSG:4326". OGC:CRS84
/// gives 4326, whose coordinates PostGIS has in the same order. 0: none.
int32_t srid_of_crs(std::string_view json);

}  // namespace strom::format::geoarrow
