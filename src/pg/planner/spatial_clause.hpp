// Join clauses that say where a point of the outer side lies relative to a polygon of the inner one: predicates of
// PostGIS. The engine joins by an index over the polygons. Used by join_path.cpp; everything may ereport.
#pragma once

#include "pg/planner/engine_rel.hpp"

namespace strom::pg::planner {

/// Sets `join`'s keys to those of `clause`: the polygon is of the inner side, the point, or its two coordinates, of
/// relations in `outer`. False, and nothing is set, when `clause` is not of this kind or the engine cannot compute the
/// keys. `operations` is increased by what these cost for each row.
bool set_spatial_keys(PlannerState* state, Expr* clause, Relids outer, EngineJoin* join, int* operations);

}  // namespace strom::pg::planner
