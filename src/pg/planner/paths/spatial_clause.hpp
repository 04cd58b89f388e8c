// Join clauses that say where a geometry of the outer side lies relative to one of the inner side: predicates of
// PostGIS. The engine joins by an index over the inner side. Used by join_path.cpp; everything may ereport.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// Sets `join`'s keys to those of `clause`: a polygon of the inner side, and a point, or its two coordinates, of
/// relations in `outer`; or of st_dwithin two points and a distance. False, and nothing is set, when `clause` is not of
/// this kind or the engine cannot compute the keys. `operations` is increased by what these cost for each row.
bool set_spatial_keys(PlannerState* state, Expr* clause, Relids outer, EngineJoin* join, int* operations);

/// The same for the operator && of boxes.
bool set_box_keys(PlannerState* state, Expr* clause, Relids outer, EngineJoin* join, int* operations);

}  // namespace strom::pg::planner
