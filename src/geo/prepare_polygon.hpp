// Makes images of polygons (prepared_polygon.hpp). Host.
#pragma once

#include <cstddef>

#include "geo/rings.hpp"

namespace strom::geo {

/// A bound of how much wider PostGIS's box of floats can be than the box.
double float_rounding(const Box& box);

/// Cells over a box must be wider than this, so that a point within a cell can be computed.
double least_cell(const Box& box);

/// kWith: for a polygon that is compared with many points from everywhere. kNone: for a polygon behind an index.
enum class Raster : uint8_t { kNone, kWith };

/// Returns the image. Its size is about that of the points if they are few and there is no raster, else about twice
/// that, and at most 64 KB more for the raster.
std::vector<char> prepare_polygon(const Rings& rings, Raster raster);

/// Writes the image to `room`, which must be large enough and at a multiple of 16. Returns its bytes.
size_t prepare_polygon(const Rings& rings, Raster raster, char* room);

/// The most bytes of an image without a raster.
size_t most_prepared_bytes(size_t points, size_t rings);

}  // namespace strom::geo
