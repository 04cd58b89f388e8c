// Makes indexes of cells over many polygons (cell_index.hpp). Host.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/large_allocator.hpp"
#include "geo/cell_index.hpp"
#include "geo/rings.hpp"

namespace strom::geo {

/// A geometry's bytes; none for a NULL, which no point lies in.
struct GeometryBytes {
  const char* bytes;
  int64_t size;
};

/// Runs task(0) … task(tasks - 1), on as many threads as there are, and returns when all have ended.
using RunTasks = std::function<void(int tasks, const std::function<void(int)>& task)>;
void run_in_turn(int tasks, const std::function<void(int)>& task);

struct CellIndexOptions {
  GeometryForm form = GeometryForm::kSerialized;
  int tasks = 1;
  RunTasks run = run_in_turn;
  double cells_of_edge = 1;  // on average
};

/// The image, in words so that it begins at a multiple of 16. Polygons have the numbers of their geometries. Geometries
/// that are no polygons, or not decidable, are uncertain for each point of their box. An image without polygons is
/// valid. Empty when the index would have 2^31 entries or polygons, or more than 64 GB.
base::LargeVector<uint64_t> build_cell_index(std::span<const GeometryBytes> geometries,
                                             const CellIndexOptions& options);

}  // namespace strom::geo
