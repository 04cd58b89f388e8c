// Converts PostGIS's geometry from the form of its send function (EWKB) to the standard's form (ISO WKB), which
// GeoArrow requires. Private to src/format/pgwire.
#pragma once

#include <cstdint>
#include <string>

namespace strom::format::pgwire {

/// Appends the standard's form to `out`; `srid` is the geometry's, 0 when it has none. False when the bytes are not
/// such a geometry.
bool geometry_to_wkb(const uint8_t* bytes, int64_t size, uint32_t& srid, std::string& out);

}  // namespace strom::format::pgwire
