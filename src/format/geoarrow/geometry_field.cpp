#include "format/geoarrow/geometry_field.hpp"

#include <charconv>
#include <string_view>

#include "columnar/bounds.hpp"
#include "columnar/layout.hpp"
#include "format/geoarrow/json_members.hpp"

namespace strom::format::geoarrow {

using columnar::Field;
using columnar::Layout;
using geo::GeometryType;

namespace {

std::string_view metadata_of(const Field& field, std::string_view key) {
  for (const auto& [name, value] : field.metadata)
    if (name == key) return value;
  return {};
}

struct NativeType {
  std::string_view name;
  GeometryType type;
  int lists;  // around coordinates
};
constexpr NativeType kNativeTypes[] = {
    {"geoarrow.point", GeometryType::kPoint, 0},
    {"geoarrow.linestring", GeometryType::kLine, 1},
    {"geoarrow.polygon", GeometryType::kPolygon, 2},
    {"geoarrow.multipoint", GeometryType::kMultiPoint, 1},
    {"geoarrow.multilinestring", GeometryType::kMultiLine, 2},
    {"geoarrow.multipolygon", GeometryType::kMultiPolygon, 3},
};

bool is_double(const Field& field) { return field.layout == Layout::kFloat64 && !field.dictionary; }

/// "xy", "xyz", "xym", "xyzm".
bool set_dimensions(std::string_view names, geo::Expected* expected) {
  if (names.substr(0, 2) != "xy") return false;
  names.remove_prefix(2);
  expected->has_z = names == "z" || names == "zm";
  expected->has_m = names == "m" || names == "zm";
  return names.empty() || expected->has_z || expected->has_m;
}

bool read_coordinates(const Field& field, GeometryField* to) {
  if (field.dictionary) return false;
  std::string names;
  if (field.layout == Layout::kStruct) {
    for (const Field& child : field.children) {
      if (!is_double(child)) return false;
      names += child.name;
    }
    return set_dimensions(names, &to->expected);
  }
  if (field.layout != Layout::kFixedList || !is_double(field.children[0])) return false;
  to->is_interleaved = true;
  // Writers name the child after its dimensions. The name matters only for three numbers, which are otherwise XYZ.
  names = field.children[0].name;
  constexpr std::string_view kUsual = "xyzm";
  if (!set_dimensions(names, &to->expected) || names.size() != static_cast<size_t>(field.byte_width))
    names = kUsual.substr(0, static_cast<size_t>(std::max(field.byte_width, 0)));
  return names.size() == static_cast<size_t>(field.byte_width) && set_dimensions(names, &to->expected);
}

bool read_native(const Field& field, std::string_view name, GeometryField* to) {
  for (const NativeType& native : kNativeTypes) {
    if (native.name != name) continue;
    to->expected.any = false;
    to->expected.type = native.type;
    const Field* at = &field;
    for (int i = 0; i < native.lists; ++i) {
      const bool is_list = at->layout == Layout::kList || at->layout == Layout::kLargeList;
      if (!is_list || at->dictionary || at->children.size() != 1) return false;
      at = &at->children[0];
    }
    return read_coordinates(*at, to);
  }
  return false;
}

}  // namespace

int32_t srid_of_crs(std::string_view json) {
  std::string authority, code;
  if (const auto text = json_string(json)) {
    const size_t colon = text->rfind(':');
    if (colon == std::string::npos) return 0;
    authority = text->substr(0, colon);
    code = text->substr(colon + 1);
  } else if (const auto id = json_member(json, "id")) {
    authority = json_string(json_member(*id, "authority").value_or("")).value_or("");
    const std::string_view number = json_member(*id, "code").value_or("");
    code = json_string(number).value_or(std::string(number));
  }
  constexpr int32_t kLonLat = 4326, kMostSrid = 998999;
  if (authority == "OGC" && code == "CRS84") return kLonLat;
  int32_t srid = 0;
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), srid);
  const bool is_number = error == std::errc() && end == code.data() + code.size();
  return authority == "EPSG" && is_number && srid > 0 && srid <= kMostSrid ? srid : 0;
}

int box_field(const columnar::Schema& schema, int field) {
  const Field& of = schema.fields[static_cast<size_t>(field)];
  const auto find = [&](std::string_view name) {
    for (size_t i = 0; i < schema.fields.size(); ++i)
      if (schema.fields[i].name == name && columnar::is_box(schema.fields[i])) return static_cast<int>(i);
    return -1;
  };
  if (const std::string_view named = metadata_of(of, kCovering); !named.empty()) return find(named);
  if (const int own = find(of.name + "_bbox"); own >= 0) return own;
  int geometries = 0;
  for (const Field& other : schema.fields) geometries += geometry_field(other).has_value();
  return geometries == 1 ? find("bbox") : -1;
}

std::optional<GeometryField> geometry_field(const Field& field) {
  const std::string_view name = metadata_of(field, "ARROW:extension:name");
  if (name.empty() || !field.unsupported.empty()) return std::nullopt;
  const std::string_view metadata = metadata_of(field, "ARROW:extension:metadata");
  const auto edges = json_member(metadata, "edges");
  if (edges.has_value() && json_string(*edges).value_or("planar") != "planar") return std::nullopt;
  GeometryField found;
  if (const auto crs = json_member(metadata, "crs")) found.srid = srid_of_crs(*crs);
  if (name == "geoarrow.wkb" || name == "ogc.wkb") {
    found.is_wkb = true;
    if (!columnar::is_binary(field.layout) || field.dictionary) return std::nullopt;
    return found;
  }
  if (!read_native(field, name, &found)) return std::nullopt;
  return found;
}

}  // namespace strom::format::geoarrow
