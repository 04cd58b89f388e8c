// Makes indexes of cells over many polygons (cell_index.hpp). Host.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/large_allocator.hpp"
#include "geo/cell_index.hpp"
#include "geo/rings.hpp"

namespace strom::geo {

/// A geometry's bytes; no bytes for a NULL, which contains no point.
struct GeometryBytes {
  const char* bytes;
  int64_t size;
};

/// Runs task(0) … task(tasks - 1) on the threads of the caller's choice, and returns when all have ended.
using RunTasks = std::function<void(int tasks, const std::function<void(int)>& task)>;
void run_in_turn(int tasks, const std::function<void(int)>& task);

struct CellIndexOptions {
  GeometryForm form = GeometryForm::kSerialized;
  int tasks = 1;
  RunTasks run = run_in_turn;
  double cells_of_edge = 1;  // on average
};

/// Returns the image, in words so that it begins at a multiple of 16. A polygon's number is the number of its geometry.
/// A geometry that is no polygon, or not decidable, is uncertain for each point of its box. An image without polygons
/// is valid. Returns an empty vector when the index would have 2^31 entries or polygons, or more than 64 GB.
base::LargeVector<uint64_t> build_cell_index(std::span<const GeometryBytes> geometries,
                                             const CellIndexOptions& options);

}  // namespace strom::geo
