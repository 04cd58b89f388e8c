#include "pg/planner/paths/spatial_clause.hpp"

#include "pg/codec/function_extension.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/lowering/lowered_functions.hpp"
#include "pg/planner/lowering/point_maker.hpp"

namespace strom::pg::planner {

using engine::plan::SpatialMatch;

namespace {

/// The arguments of a predicate.
struct Predicate {
  const char* name;
  SpatialMatch match;
  int polygon;  // index of the polygon argument; -1: either one
};

constexpr Predicate kPredicates[] = {
    {"st_contains", SpatialMatch::kInside, 0},        {"st_within", SpatialMatch::kInside, 1},
    {"st_covers", SpatialMatch::kInsideOrOn, 0},      {"st_coveredby", SpatialMatch::kInsideOrOn, 1},
    {"st_intersects", SpatialMatch::kInsideOrOn, -1},
};

const char* postgis_name(Oid function) {
  return codec::extension_of_function(function) == "postgis" ? get_func_name(function) : nullptr;
}

/// The name if the call's function belongs to PostGIS, or nullptr.
const char* postgis_function(const Node* expr) {
  return IsA(expr, FuncExpr) ? postgis_name(reinterpret_cast<const FuncExpr*>(expr)->funcid) : nullptr;
}

/// The same for an operator.
const char* postgis_operator(Node* expr) {
  if (!IsA(expr, OpExpr)) return nullptr;
  auto* op = reinterpret_cast<OpExpr*>(expr);
  set_opfuncid(op);
  return postgis_name(op->opfuncid);
}

bool is_called(const char* name, const char* wanted) { return name != nullptr && strcmp(name, wanted) == 0; }

bool literal_srid(Node* expr, int32_t* srid) {
  const auto* literal = reinterpret_cast<const Const*>(expr);
  if (!IsA(expr, Const) || literal->constisnull || literal->consttype != INT4OID) return false;
  *srid = DatumGetInt32(literal->constvalue);
  return is_known_srid(*srid);
}

/// The coordinates of a point that the query makes: st_makepoint(x, y), st_point(x, y), st_point(x, y, srid), or
/// st_setsrid(one of these, srid). NIL for other expressions.
List* coordinates_of(Node* expr, int32_t* srid) {
  const char* name = postgis_function(expr);
  if (name == nullptr) return NIL;
  List* args = reinterpret_cast<FuncExpr*>(expr)->args;
  const int count = list_length(args);
  *srid = 0;
  if (is_called(name, "st_setsrid") && count == 2) {
    List* inner = coordinates_of(static_cast<Node*>(linitial(args)), srid);
    return inner != NIL && literal_srid(static_cast<Node*>(lsecond(args)), srid) ? inner : NIL;
  }
  const PointMaker* maker = point_maker(name, count);
  const bool makes_plain = maker != nullptr && maker->coordinates() == 2;
  if (!makes_plain || (maker->has_srid && !literal_srid(static_cast<Node*>(lthird(args)), srid))) return NIL;
  return list_make2(linitial(args), lsecond(args));
}

/// The kind of geometry that a column is declared to hold, as in geometry(Point) or geometry(Polygon, 4326); 0: any
/// kind.
int declared_kind(const Node* expr) {
  const int32_t typmod = exprTypmod(expr);
  return typmod < 0 ? 0 : (typmod & 0xFC) >> 2;
}

/// True if it is known which side has the polygons; st_intersects alone does not say it.
bool tells_sides(Node* polygon, Node* point) {
  constexpr int kPoint = 1, kPolygon = 3, kMultiPolygon = 6;
  int32_t ignored;
  const int kind = declared_kind(polygon);
  return coordinates_of(point, &ignored) != NIL || declared_kind(point) == kPoint || kind == kPolygon ||
         kind == kMultiPolygon;
}

bool is_of(const PlannerInfo* root, Node* expr, Relids relids) {
  Relids used = pull_varnos(const_cast<PlannerInfo*>(root), expr);
  return !bms_is_empty(used) && bms_is_subset(used, relids);
}

bool all_lower(PlannerState* state, List* exprs, int* operations) {
  ListCell* cell;
  foreach (cell, exprs)
    if (why_not_lowered(state, static_cast<Node*>(lfirst(cell)), operations) != nullptr) return false;
  return true;
}

/// A clause, and the relations of the outer side.
struct Clause {
  Expr* expr;
  List* args;
  Relids outer;
};

/// The key of a row in the index or look-up: the coordinates of a point that the query makes, or the geometry.
List* place_of(Node* geometry, bool* by_coordinates, int32_t* srid) {
  List* coordinates = coordinates_of(geometry, srid);
  *by_coordinates = coordinates != NIL;
  return *by_coordinates ? list_copy(coordinates) : list_make1(geometry);
}

/// True if the values may be points.
bool may_be_point(const Node* expr) {
  constexpr int kPoint = 1;
  const int kind = declared_kind(expr);
  return kind == 0 || kind == kPoint;
}

/// Adds the distance of st_dwithin to the keys of its side. A distance without columns goes to the outer side.
bool add_distance(PlannerState* state, const Clause& clause, const EngineJoin* join, List** outer, List** inner) {
  auto* distance = static_cast<Node*>(lthird(clause.args));
  Relids used = pull_varnos(state->root, distance);
  if (exprType(distance) != FLOAT8OID) return false;
  List** side = bms_is_subset(used, clause.outer) ? outer : bms_is_subset(used, join->inner->relids) ? inner : nullptr;
  if (side != nullptr) *side = lappend(*side, distance);
  return side != nullptr;
}

/// Sets the keys of joins by a tree: two points and a distance, or two boxes.
bool set_tree_keys(PlannerState* state, const Clause& clause, SpatialMatch match, EngineJoin* join, int* operations) {
  for (int side = 0; side < 2; ++side) {
    auto* of_inner = static_cast<Node*>(list_nth(clause.args, side));
    auto* of_outer = static_cast<Node*>(list_nth(clause.args, 1 - side));
    if (!codec::is_geometry(of_inner) || !codec::is_geometry(of_outer)) return false;
    if (!is_of(state->root, of_inner, join->inner->relids) || !is_of(state->root, of_outer, clause.outer)) continue;
    bool inner_by_coordinates, outer_by_coordinates;
    int32_t inner_srid = 0, outer_srid = 0;
    List* inner_keys = place_of(of_inner, &inner_by_coordinates, &inner_srid);
    List* outer_keys = place_of(of_outer, &outer_by_coordinates, &outer_srid);
    if (match == SpatialMatch::kNear) {
      if (inner_by_coordinates && outer_by_coordinates && inner_srid != outer_srid) return false;
      if (!may_be_point(of_inner) || !may_be_point(of_outer)) return false;
      if (!add_distance(state, clause, join, &outer_keys, &inner_keys)) return false;
    }
    int work = 0;
    if (!all_lower(state, outer_keys, &work) || !all_lower(state, inner_keys, &work)) continue;
    *operations += work;
    join->outer_keys = outer_keys;
    join->inner_keys = inner_keys;
    join->spatial = match;
    join->srid = inner_by_coordinates ? inner_srid : outer_srid;
    join->spatial_clause = clause.expr;
    return true;
  }
  return false;
}

}  // namespace

bool set_box_keys(PlannerState* state, Expr* clause, Relids outer, EngineJoin* join, int* operations) {
  if (!is_called(postgis_operator(reinterpret_cast<Node*>(clause)), "geometry_overlaps")) return false;
  const Clause overlap = {clause, reinterpret_cast<OpExpr*>(clause)->args, outer};
  return set_tree_keys(state, overlap, SpatialMatch::kOverlaps, join, operations);
}

bool set_spatial_keys(PlannerState* state, Expr* clause, Relids outer, EngineJoin* join, int* operations) {
  auto* expr = reinterpret_cast<Node*>(clause);
  const char* name = postgis_function(expr);
  if (is_called(name, "st_dwithin") && list_length(reinterpret_cast<FuncExpr*>(expr)->args) == 3)
    return set_tree_keys(state, {clause, reinterpret_cast<FuncExpr*>(expr)->args, outer}, SpatialMatch::kNear, join,
                         operations);
  const Predicate* predicate = nullptr;
  for (const Predicate& one : kPredicates)
    if (is_called(name, one.name)) predicate = &one;
  if (predicate == nullptr) return false;
  const List* args = reinterpret_cast<FuncExpr*>(expr)->args;
  if (list_length(args) != 2) return false;
  for (int side = 0; side < 2; ++side) {
    if (predicate->polygon >= 0 && side != predicate->polygon) continue;
    auto* polygon = static_cast<Node*>(list_nth(args, side));
    auto* point = static_cast<Node*>(list_nth(args, 1 - side));
    if (!codec::is_geometry(polygon) || !codec::is_geometry(point)) return false;
    if (!is_of(state->root, polygon, join->inner->relids) || !is_of(state->root, point, outer)) continue;
    if (predicate->polygon < 0 && !tells_sides(polygon, point)) continue;
    int32_t srid = 0;
    List* keys = coordinates_of(point, &srid);
    if (keys == NIL) keys = list_make1(point);
    int work = 0;
    if (!all_lower(state, keys, &work) || !all_lower(state, list_make1(polygon), &work)) continue;
    *operations += work;
    join->outer_keys = keys;
    join->inner_keys = list_make1(polygon);
    join->spatial = predicate->match;
    join->srid = srid;
    join->spatial_clause = clause;
    return true;
  }
  return false;
}

}  // namespace strom::pg::planner
