// Join clauses with PostGIS predicates about the position of a geometry of the outer side relative to one of the inner
// side. The engine joins by an index over the inner side. Used by join_path.cpp; everything may ereport.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// Sets `join`'s keys to those of `clause`. The keys are a polygon of the inner side, and a point (or its two
/// coordinates) of relations in `outer`. For st_dwithin they are two points and a distance. False, with nothing set,
/// when `clause` is of another kind or the engine cannot compute the keys. The keys' cost for each row is added to
/// `operations`.
bool set_spatial_keys(PlannerState* state, Expr* clause, Relids outer, EngineJoin* join, int* operations);

/// The same for the operator && of bounding boxes.
bool set_box_keys(PlannerState* state, Expr* clause, Relids outer, EngineJoin* join, int* operations);

}  // namespace strom::pg::planner
