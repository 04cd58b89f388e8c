// Clauses that hold only for geometries whose box meets another box: PostGIS functions and operators with a column on
// one side. Private to src/pg/pruning.
#pragma once

#include "columnar/bounds.hpp"
#include "geo/point.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::pruning {

/// True if `function`, which belongs to PostGIS, is such a function of two geometries. `distance`: the largest gap
/// between their boxes. May ereport.
bool is_box_clause(Oid function, const List* args, double* distance);

enum class WantedBox : uint8_t { kBox, kNone, kUnknown };

/// The box that a row's box has to meet, from a PostGIS geometry; kNone: no row passes. May ereport.
WantedBox wanted_box(Datum geometry, double distance, geo::Box* box);

/// False if no geometry whose box is within the bounds can have a box, as PostGIS stores it, that meets `wanted`.
bool may_meet(const geo::Box& wanted, const columnar::Bounds& bounds);

}  // namespace strom::pg::pruning
