// Metadata of GeoParquet files (https://geoparquet.org, 1.0 and 1.1), which the file has for all its columns.
#pragma once

#include "columnar/schema.hpp"

namespace strom::format::geoarrow {

/// Gives the fields that the schema's metadata call geometries the extension types that say so of each field by itself,
/// where they have none.
void name_geometries(columnar::Schema* schema);

}  // namespace strom::format::geoarrow
