// Clauses that hold only for geometries whose box meets another one: functions and operators of PostGIS with a column
// on one side. Private to src/pg/pruning.
#pragma once

#include "columnar/bounds.hpp"
#include "geo/point.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::pruning {

/// `function`, which is one of PostGIS's, is one of these, of two geometries; `distance`: by how much their boxes may
/// be apart. May ereport.
bool is_box_clause(Oid function, const List* args, double* distance);

enum class WantedBox : uint8_t { kBox, kNone, kUnknown };

/// The box that rows have to meet, of a value of PostGIS's geometry; kNone: no row passes. May ereport.
WantedBox wanted_box(Datum geometry, double distance, geo::Box* box);

/// False: no geometry whose box lies within the bounds has one, as PostGIS stores it, that meets `wanted`.
bool may_meet(const geo::Box& wanted, const columnar::Bounds& bounds);

}  // namespace strom::pg::pruning
