#include "pg/planner/spatial_clause.hpp"

#include "pg/codec/type_map.hpp"
#include "pg/planner/lower_check.hpp"
#include "pg/planner/lowered_functions.hpp"

namespace strom::pg::planner {

using engine::plan::SpatialMatch;

namespace {

/// How a predicate sees its arguments.
struct Predicate {
  const char* name;
  SpatialMatch match;
  int polygon;  // which argument it is; -1: either
};

constexpr Predicate kPredicates[] = {
    {"st_contains", SpatialMatch::kInside, 0},        {"st_within", SpatialMatch::kInside, 1},
    {"st_covers", SpatialMatch::kInsideOrOn, 0},      {"st_coveredby", SpatialMatch::kInsideOrOn, 1},
    {"st_intersects", SpatialMatch::kInsideOrOn, -1},
};

bool is_geometry(Node* expr) {
  const registry::TypeInfo* type = codec::engine_type(exprType(expr));
  return type != nullptr && type->id == registry::TypeId::kGeometry;
}

/// The call's function is PostGIS's; its name, or nullptr.
const char* postgis_function(const Node* expr) {
  if (!IsA(expr, FuncExpr)) return nullptr;
  const auto* call = reinterpret_cast<const FuncExpr*>(expr);
  return extension_of_function(call->funcid) == "postgis" ? get_func_name(call->funcid) : nullptr;
}

bool is_called(const char* name, const char* wanted) { return name != nullptr && strcmp(name, wanted) == 0; }

bool literal_srid(Node* expr, int32_t* srid) {
  constexpr int32_t kMostSrid = 999999;
  const auto* literal = reinterpret_cast<const Const*>(expr);
  if (!IsA(expr, Const) || literal->constisnull || literal->consttype != INT4OID) return false;
  *srid = DatumGetInt32(literal->constvalue);
  return *srid >= 0 && *srid <= kMostSrid;
}

/// The coordinates of a point that the query makes of them: st_makepoint(x, y), st_point(x, y), st_point(x, y, srid),
/// st_setsrid(one of these, srid). NIL for others.
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
  const bool is_point = is_called(name, "st_point");
  if (count == 2 && (is_point || is_called(name, "st_makepoint"))) return args;
  if (count == 3 && is_point && literal_srid(static_cast<Node*>(lthird(args)), srid))
    return list_make2(linitial(args), lsecond(args));
  return NIL;
}

/// What a column is declared to hold, as geometry(Point) and geometry(Polygon, 4326) say it; 0: anything.
int declared_kind(const Node* expr) {
  const int32_t typmod = exprTypmod(expr);
  return typmod < 0 ? 0 : (typmod & 0xFC) >> 2;
}

/// st_intersects does not say which side has the polygons.
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

}  // namespace

bool set_spatial_keys(PlannerState* state, Expr* clause, Relids outer, EngineJoin* join, int* operations) {
  auto* expr = reinterpret_cast<Node*>(clause);
  const char* name = postgis_function(expr);
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
    if (!is_geometry(polygon) || !is_geometry(point)) return false;
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
