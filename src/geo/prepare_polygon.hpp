// Makes images of polygons (prepared_polygon.hpp). Host.
#pragma once

#include <cstddef>

#include "geo/rings.hpp"

namespace strom::geo {

/// More than boxes of floats can be wider than a box.
double float_rounding(const Box& box);

/// Cells over a box must be wider, so that a point within one can be computed.
double least_cell(const Box& box);

/// With a raster for a polygon that many points of everywhere are compared with; without one for a polygon that an
/// index has in front of it.
enum class Raster : uint8_t { kNone, kWith };

/// The image. Its size is about that of the points if there are few and no raster, else about twice as much, and at
/// most 64 KB for the raster.
std::vector<char> prepare_polygon(const Rings& rings, Raster raster);

/// The same where there is room for it, at a multiple of 16. Returns its bytes.
size_t prepare_polygon(const Rings& rings, Raster raster, char* room);

/// The most bytes of an image without a raster.
size_t most_prepared_bytes(size_t points, size_t rings);

}  // namespace strom::geo
