// Metadata of GeoParquet files (https://geoparquet.org, 1.0 and 1.1). The file has them for all columns together.
#pragma once

#include "columnar/schema.hpp"

namespace strom::format::geoarrow {

/// Gives extension types to the fields that the schema's metadata call geometries, unless they already have one.
void name_geometries(columnar::Schema* schema);

}  // namespace strom::format::geoarrow
