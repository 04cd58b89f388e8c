// Lowering of PostGIS's functions, to the rows of registry/functions/geometry.def.
//
// A point that is made from two numbers (st_makepoint) stays two numbers where possible. A literal polygon is prepared
// here. Rows that the engine cannot decide are fallback rows for PostGIS.
#include <cstdio>
#include <cstring>

#include "geo/prepare_polygon.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/codec/function_extension.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/planner/lowering/lower.hpp"
#include "pg/planner/lowering/lowered_functions.hpp"
#include "pg/planner/lowering/point_maker.hpp"

namespace strom::pg::planner {

using boundary::guard;
using engine::plan::NodeId;
using registry::TypeId;

namespace {

constexpr size_t kMostPrepared = 16 << 20;  // bytes of a prepared literal in a plan

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

std::string plain_name(const FunctionCall& call) { return call.name.substr(call.name.find('.') + 1); }

bool is_geometry(const Node* expr) {
  return guard([expr] { return codec::is_geometry(expr); });
}

/// The bytes of a literal geometry, without the varlena header.
bool literal_geometry(const Node* expr, std::string* bytes) {
  if (!IsA(expr, Const) || reinterpret_cast<const Const*>(expr)->constisnull || !is_geometry(expr)) return false;
  return codec::register_bytes(TypeId::kGeometry, 0, reinterpret_cast<const Const*>(expr)->constvalue, bytes) ==
         codec::Encoded::kDone;
}

bool literal_int4(const Node* expr, int32_t* value) {
  if (!IsA(expr, Const)) return false;
  const auto& literal = *reinterpret_cast<const Const*>(expr);
  if (literal.constisnull || literal.consttype != INT4OID) return false;
  *value = DatumGetInt32(literal.constvalue);
  return true;
}

bool open_literal(const std::string& bytes, geo::SerializedGeometry* geometry) {
  return geo::SerializedGeometry::open(bytes.data(), static_cast<int64_t>(bytes.size()), geometry);
}

/// True for a call of a PostGIS function; returns the unqualified name and the arguments.
bool postgis_call(const Node* expr, std::string* name, std::vector<const Node*>* args) {
  if (!IsA(expr, FuncExpr)) return false;
  const auto& call = *reinterpret_cast<const FuncExpr*>(expr);
  if (codec::extension_of_function(call.funcid) != "postgis") return false;
  *name = guard([&call] { return get_func_name(call.funcid); });
  for (int i = 0; i < list_length(call.args); ++i) args->push_back(static_cast<const Node*>(list_nth(call.args, i)));
  return true;
}

/// The version of the function's library: 303 is 3.3. A large number when it is unknown.
int postgis_version(Oid function) {
  constexpr int kUnknown = 1 << 20, kMajor = 100;
  const char* version = guard([function]() -> const char* {
    const oidvector* none = buildoidvector(nullptr, 0);
    const Oid asked = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("postgis_lib_version"),
                                      PointerGetDatum(none), ObjectIdGetDatum(get_func_namespace(function)));
    return OidIsValid(asked) ? TextDatumGetCString(OidFunctionCall0(asked)) : nullptr;
  });
  int major = 0, minor = 0;
  return version != nullptr && sscanf(version, "%d.%d", &major, &minor) == 2 ? kMajor * major + minor : kUnknown;
}

}  // namespace

// Lowers to the row with the function's name.
Result<NodeId> Lowering::geometry_call(const FunctionCall& call) {
  if (call.args.size() != 1 || !is_geometry(call.args[0])) return unsupported("arguments of " + plain_name(call));
  STROM_ASSIGN(const NodeId geometry, lower(call.args[0]));
  return builder_.call("geometry " + plain_name(call), {geometry});
}

// Two numbers for a function that makes a point from numbers; a geometry for everything else.
Result<Lowering::PointNodes> Lowering::point_nodes(const Node* arg) {
  PointNodes point;
  std::string bytes, name;
  std::vector<const Node*> args;
  geo::SerializedGeometry literal;
  geo::Point numbers{0, 0};
  if (literal_geometry(arg, &bytes) && open_literal(bytes, &literal) && geo::read_point(literal, &numbers)) {
    const auto constant = [&](double value) {
      return builder_.constant({TypeId::kFloat8, 0}, false,
                               std::string(reinterpret_cast<const char*>(&value), sizeof value));
    };
    point.x = constant(numbers.x);
    point.y = constant(numbers.y);
    point.srid = literal.srid();
    return point;
  }
  if (postgis_call(arg, &name, &args)) {
    const PointMaker* maker = point_maker(name.c_str(), static_cast<int>(args.size()));
    if (maker != nullptr && maker->coordinates() == 2 &&
        (!maker->has_srid || (literal_int4(args[2], &point.srid) && is_known_srid(point.srid)))) {
      STROM_ASSIGN(point.x, lower(args[0]));
      STROM_ASSIGN(point.y, lower(args[1]));
      return point;
    }
    if (name == "st_setsrid" && args.size() == 2 && literal_int4(args[1], &point.srid) && is_known_srid(point.srid)) {
      STROM_ASSIGN(const PointNodes inner, point_nodes(args[0]));
      if (inner.is_numbers()) return PointNodes{inner.x, inner.y, point.srid};
    }
  }
  point.srid = 0;
  STROM_ASSIGN(point.x, lower(arg));
  return point;
}

Result<NodeId> Lowering::point_value(const PointNodes& point) {
  if (!point.is_numbers()) return point.x;
  return builder_.call("geometry make point", {point.x, point.y, integer(point.srid)});
}

Result<NodeId> Lowering::geometry_srid(const FunctionCall& call) {
  int32_t srid = 0;
  if (call.args.size() != 2 || !literal_int4(call.args[1], &srid) || !is_known_srid(srid))
    return unsupported("arguments of st_setsrid");
  STROM_ASSIGN(const PointNodes inner, point_nodes(call.args[0]));
  if (inner.is_numbers()) return point_value({inner.x, inner.y, srid});
  return builder_.call("geometry st_setsrid", {inner.x, integer(srid)});
}

// Lowers a function that makes a point from numbers to a geometry.
Result<NodeId> Lowering::geometry_point(const FunctionCall& call) {
  const std::string name = plain_name(call);
  const PointMaker* maker = point_maker(name.c_str(), static_cast<int>(call.args.size()));
  PointNodes point;
  if (maker == nullptr ||
      (maker->has_srid && !(literal_int4(call.args[maker->coordinates()], &point.srid) && is_known_srid(point.srid))))
    return unsupported("arguments of " + name);
  STROM_ASSIGN(point.x, lower(call.args[0]));
  STROM_ASSIGN(point.y, lower(call.args[1]));
  STROM_ASSIGN(NodeId made, point_value(point));
  for (int i = 2; i < maker->coordinates(); ++i) {
    STROM_ASSIGN(const NodeId value, lower(call.args[i]));
    STROM_ASSIGN(made, builder_.call(std::string("geometry add ") + maker->more[i - 2], {made, value}));
  }
  return made;
}

Result<NodeId> Lowering::call_of_both(const std::string& name, const Node* a, const Node* b) {
  STROM_ASSIGN(const NodeId left, lower(a));
  STROM_ASSIGN(const NodeId right, lower(b));
  return builder_.call(name, {left, right});
}

// Lowers to a row of functions/geometry.def with two geometries.
Result<NodeId> Lowering::geometry_pair(const FunctionCall& call, const char* row) {
  if (call.args.size() != 2 || !is_geometry(call.args[0]) || !is_geometry(call.args[1]))
    return unsupported("arguments of " + plain_name(call));
  return call_of_both(row, call.args[0], call.args[1]);
}

// Before PostGIS 3.4, st_linecrossingdirection reported the first of several crossings as one to the left.
Result<NodeId> Lowering::geometry_crossings(const FunctionCall& call) {
  constexpr int kChanged = 304;
  if (postgis_version(call.function) < kChanged) return unsupported("st_linecrossingdirection before PostGIS 3.4");
  return geometry_pair(call, "geometry st_linecrossingdirection");
}

// Lowers st_relate with a pattern, if all versions of GEOS accept the pattern.
Result<NodeId> Lowering::geometry_pattern(const FunctionCall& call) {
  constexpr size_t kCells = 9;
  std::string pattern;
  const Node* given = call.args[2];
  if (!IsA(given, Const) || reinterpret_cast<const Const*>(given)->constisnull ||
      codec::register_bytes(TypeId::kText, 0, reinterpret_cast<const Const*>(given)->constvalue, &pattern) !=
          codec::Encoded::kDone ||
      pattern.size() != kCells || pattern.find_first_not_of("TFtf*012") != std::string::npos)
    return unsupported("pattern of st_relate");
  STROM_ASSIGN(const NodeId a, lower(call.args[0]));
  STROM_ASSIGN(const NodeId b, lower(call.args[1]));
  return builder_.call("geometry relate pattern", {a, b, builder_.constant({TypeId::kText, 0}, false, pattern)});
}

// Lowers st_dfullywithin of points. For some polygons PostGIS before 3.5 uses wrong distances; since 3.5 a buffer has
// to contain the geometry.
Result<NodeId> Lowering::geometry_fully_within(const FunctionCall& call) {
  constexpr int kChanged = 305;
  if (postgis_version(call.function) >= kChanged) return unsupported("st_dfullywithin of PostGIS 3.5");
  return geometry_near(call);
}

// Lowers the operators of bounding boxes.
Result<NodeId> Lowering::geometry_boxes(const FunctionCall& call, geo::BoxRelation relation) {
  if (call.args.size() != 2 || !is_geometry(call.args[0]) || !is_geometry(call.args[1]))
    return unsupported("arguments of " + plain_name(call));
  STROM_ASSIGN(const NodeId a, lower(call.args[0]));
  STROM_ASSIGN(const NodeId b, lower(call.args[1]));
  return builder_.call("geometry compare boxes", {a, b, integer(static_cast<int32_t>(relation))});
}

Result<NodeId> Lowering::geometry_expand(const FunctionCall& call) {
  return call_of_both("geometry st_expand", call.args[0], call.args[1]);
}

// Lowers st_makeenvelope, which has two corners.
Result<NodeId> Lowering::geometry_rectangle(const FunctionCall& call) {
  constexpr size_t kArguments = 5;
  int32_t srid = 0;
  if (call.args.size() != kArguments || !literal_int4(call.args[4], &srid) || !is_known_srid(srid))
    return unsupported("arguments of st_makeenvelope");
  NodeId corners[2];
  for (int i = 0; i < 2; ++i) {
    STROM_ASSIGN(const NodeId x, lower(call.args[2 * i]));
    STROM_ASSIGN(const NodeId y, lower(call.args[2 * i + 1]));
    STROM_ASSIGN(corners[i], point_value({x, y, srid}));
  }
  return builder_.call("geometry st_makeenvelope", {corners[0], corners[1]});
}

// Lowers `relation` (contains, covers or intersects) of `polygon`, usually a polygon, to `other`, usually a point.
Result<NodeId> Lowering::with_polygon(const Node* polygon, const Node* other, const std::string& relation) {
  const std::string name = "geometry " + relation, of_point = relation == "contains" ? name : "geometry covers";
  std::string bytes;
  geo::SerializedGeometry literal;
  STROM_ASSIGN(const PointNodes nodes, point_nodes(other));
  if (literal_geometry(polygon, &bytes) && open_literal(bytes, &literal) && geo::is_polygonal(literal.type())) {
    const geo::Rings rings = geo::read_rings(bytes.data(), static_cast<int64_t>(bytes.size()));
    if (!rings.decidable) return unsupported("geometry that is no simple polygon");
    const std::vector<char> image = geo::prepare_polygon(rings, geo::Raster::kWith);
    if (image.size() > kMostPrepared) return unsupported("polygon of very many points as a literal");
    if (nodes.is_numbers() && nodes.srid != rings.srid) return unsupported("geometries of different SRIDs");
    const NodeId prepared = builder_.constant({TypeId::kBytea, 0}, false, std::string(image.data(), image.size()));
    if (nodes.is_numbers()) return builder_.call(of_point + " prepared xy", {prepared, nodes.x, nodes.y});
    return builder_.call(name + " prepared", {prepared, nodes.x});
  }
  STROM_ASSIGN(const NodeId area, lower(polygon));
  if (nodes.is_numbers() && nodes.srid == 0) return builder_.call(of_point + " xy", {area, nodes.x, nodes.y});
  STROM_ASSIGN(const NodeId made, point_value(nodes));
  return builder_.call(name, {area, made});
}

// Lowers `relation` of the first geometry, usually a polygon, to the second.
Result<NodeId> Lowering::geometry_around(const FunctionCall& call, const char* relation) {
  if (call.args.size() != 2 || !is_geometry(call.args[0]) || !is_geometry(call.args[1]))
    return unsupported("arguments of " + plain_name(call));
  return with_polygon(call.args[0], call.args[1], relation);
}

// Lowers `relation` of the second geometry, usually a polygon, to the first.
Result<NodeId> Lowering::geometry_inside(const FunctionCall& call, const char* relation) {
  if (call.args.size() != 2 || !is_geometry(call.args[0]) || !is_geometry(call.args[1]))
    return unsupported("arguments of " + plain_name(call));
  return with_polygon(call.args[1], call.args[0], relation);
}

// Lowers st_intersects, or st_disjoint.
Result<NodeId> Lowering::geometry_meets(const FunctionCall& call, bool meets) {
  if (call.args.size() != 2 || !is_geometry(call.args[0]) || !is_geometry(call.args[1]))
    return unsupported("arguments of " + plain_name(call));
  const Node *a = call.args[0], *b = call.args[1];
  std::string bytes;
  const auto is_point = [&](const Node* arg) {
    std::string name;
    std::vector<const Node*> args;
    geo::SerializedGeometry literal;
    geo::Point ignored{0, 0};
    return (literal_geometry(arg, &bytes) && open_literal(bytes, &literal) && geo::read_point(literal, &ignored)) ||
           (postgis_call(arg, &name, &args) && (name == "st_makepoint" || name == "st_point" || name == "st_setsrid"));
  };
  const bool swapped = is_point(a) || (literal_geometry(b, &bytes) && !is_point(b));
  STROM_ASSIGN(const NodeId found, with_polygon(swapped ? b : a, swapped ? a : b, "intersects"));
  return meets ? found : builder_.logic_not(found);
}

// Lowers st_distance and the equivalent operator <-> of points.
Result<NodeId> Lowering::geometry_distance(const FunctionCall& call) {
  if (call.args.size() < 2 || !is_geometry(call.args[0]) || !is_geometry(call.args[1]))
    return unsupported("arguments of " + plain_name(call));
  STROM_ASSIGN(PointNodes a, point_nodes(call.args[0]));
  STROM_ASSIGN(PointNodes b, point_nodes(call.args[1]));
  if (a.is_numbers() && b.is_numbers() && a.srid != b.srid) return unsupported("geometries of different SRIDs");
  if (!a.is_numbers() && !b.is_numbers()) return builder_.call("geometry distance of points", {a.x, b.x});
  for (PointNodes* point : {&a, &b}) {
    if (point->is_numbers()) continue;
    const NodeId srid = integer(a.is_numbers() ? a.srid : b.srid), geometry = point->x;
    STROM_ASSIGN(point->x, builder_.call("geometry point x", {geometry, srid}));
    STROM_ASSIGN(point->y, builder_.call("geometry point y", {geometry, srid}));
  }
  STROM_ASSIGN(const NodeId dx, builder_.call("float8mi", {b.x, a.x}));
  STROM_ASSIGN(const NodeId dy, builder_.call("float8mi", {b.y, a.y}));
  return builder_.call("geometry distance", {dx, dy});
}

// Lowers st_dwithin, and functions that are equivalent to it for points.
Result<NodeId> Lowering::geometry_near(const FunctionCall& call) {
  STROM_ASSIGN(const NodeId distance, geometry_distance(call));
  STROM_ASSIGN(const NodeId most, lower(call.args[2]));
  return builder_.call("geometry within distance", {distance, most});
}

}  // namespace strom::pg::planner
