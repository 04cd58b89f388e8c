// Fields of Arrow schemas that hold geometries: GeoArrow's extension types (https://geoarrow.org), and ogc.wkb. Used by
// whoever maps fields to types and reads them as geometries.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "columnar/schema.hpp"
#include "geo/stored_form.hpp"

namespace strom::format::geoarrow {

/// How a field holds geometries. Plain data.
struct GeometryField {
  bool is_wkb = false;          // else lists and structs of numbers, of the type and dimensions in `expected`
  bool is_interleaved = false;  // coordinates are lists of fixed size, else structs
  int32_t srid = 0;             // 0: unknown, or no EPSG code
  geo::Expected expected{};
};

/// nullopt: the field's extension type is none that is read as geometries of the plane, or its parts are not as that
/// type has them.
std::optional<GeometryField> geometry_field(const columnar::Field& field);

/// The field of boxes (columnar::is_box) that tells of geometry field `field`: the one that GeoParquet's metadata name
/// (kCovering), or "NAME_bbox", or "bbox" if no other field holds geometries. -1: none.
int box_field(const columnar::Schema& schema, int field);

/// Metadata of a field: the name of its boxes' field.
inline constexpr const char* kCovering = "strom:covering";

/// The EPSG code of a coordinate reference system in JSON: PROJJSON with an id, or a string as "EPSG:4326"; that of
/// OGC:CRS84 is 4326, whose coordinates PostGIS has in the same order. 0: none.
int32_t srid_of_crs(std::string_view json);

}  // namespace strom::format::geoarrow
