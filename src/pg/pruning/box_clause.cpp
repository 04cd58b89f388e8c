#include "pg/pruning/box_clause.hpp"

#include <algorithm>
#include <cstring>

#include "geo/float_box.hpp"
#include "pg/codec/type_map.hpp"

namespace strom::pg::pruning {

// Excludes st_equals and ~=, which are true for two empty geometries.
bool is_box_clause(Oid function, const List* args, double* distance) {
  constexpr const char* kNames[] = {"geometry_overlaps",   "geometry_contains", "geometry_within", "st_contains",
                                    "st_containsproperly", "st_within",         "st_covers",       "st_coveredby",
                                    "st_intersects",       "st_touches",        "st_crosses",      "st_overlaps"};
  const int count = list_length(args);
  if (count < 2 || !codec::is_geometry(static_cast<Node*>(linitial(args))) ||
      !codec::is_geometry(static_cast<Node*>(lsecond(args))))
    return false;
  const char* name = get_func_name(function);
  if (name == nullptr) return false;
  *distance = 0;
  if (count == 2)
    return std::any_of(std::begin(kNames), std::end(kNames),
                       [name](const char* known) { return std::strcmp(name, known) == 0; });
  auto* third = static_cast<Node*>(lthird(args));
  if (count != 3 || std::strcmp(name, "st_dwithin") != 0 || !IsA(third, Const)) return false;
  const auto* constant = reinterpret_cast<const Const*>(third);
  if (constant->constisnull || constant->consttype != FLOAT8OID) return false;
  *distance = DatumGetFloat8(constant->constvalue);
  return *distance >= 0;
}

WantedBox wanted_box(Datum geometry, double distance, geo::Box* box) {
  // Rounding errors of a distance are far smaller.
  constexpr double kSlack = 1 + 1e-9;
  auto* value = PG_DETOAST_DATUM_PACKED(geometry);
  geo::SerializedGeometry opened;
  if (!geo::SerializedGeometry::open(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value), &opened)) return WantedBox::kUnknown;
  switch (geo::float_box(opened, box)) {
    case geo::BoxAnswer::kNone: return WantedBox::kNone;
    case geo::BoxAnswer::kUncertain: return WantedBox::kUnknown;
    case geo::BoxAnswer::kBox: break;
  }
  *box = box->expanded(distance * kSlack);
  return box->is_finite() ? WantedBox::kBox : WantedBox::kUnknown;
}

bool may_meet(const geo::Box& wanted, const columnar::Bounds& bounds) {
  const geo::Box box{bounds.box[0], bounds.box[1], bounds.box[2], bounds.box[3]};
  return !box.is_finite() || wanted.overlaps(geo::float_box_of(box));
}

}  // namespace strom::pg::pruning
