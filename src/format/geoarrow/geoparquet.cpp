#include "format/geoarrow/geoparquet.hpp"

#include <algorithm>
#include <string>

#include "columnar/bounds.hpp"
#include "format/geoarrow/geometry_field.hpp"
#include "format/geoarrow/json_members.hpp"

namespace strom::format::geoarrow {

namespace {

/// A column without a coordinate system has longitude and latitude; null means an unknown system.
std::string extension_metadata(std::string_view column) {
  std::string text = "{\"crs\":" + std::string(json_member(column, "crs").value_or("\"OGC:CRS84\""));
  if (const auto edges = json_member(column, "edges")) text += ",\"edges\":" + std::string(*edges);
  return text + "}";
}

/// The struct that "covering" names for all four corners; empty: none.
std::string covering(std::string_view column) {
  const auto box = json_member(json_member(column, "covering").value_or(""), "bbox");
  std::string found;
  for (const char* corner : columnar::kBoxCorners) {
    const auto path = json_elements(json_member(box.value_or(""), corner).value_or(""));
    if (path.size() != 2 || json_string(path[1]) != corner) return "";
    const std::string name = json_string(path[0]).value_or("");
    if (!found.empty() && name != found) return "";
    found = name;
  }
  return found;
}

}  // namespace

void name_geometries(columnar::Schema* schema) {
  constexpr const char* kName = "ARROW:extension:name";
  std::string_view geo;
  for (const auto& [key, value] : schema->metadata)
    if (key == "geo") geo = value;
  for (const auto& [name, column] : json_members(json_member(geo, "columns").value_or(""))) {
    const auto encoding = json_string(json_member(column, "encoding").value_or(""));
    const auto field = std::find_if(schema->fields.begin(), schema->fields.end(),
                                    [&name = name](const columnar::Field& f) { return f.name == name; });
    if (!encoding.has_value() || field == schema->fields.end()) continue;
    auto& metadata = field->metadata;
    if (std::string box = covering(column); !box.empty()) metadata.emplace_back(kCovering, std::move(box));
    if (std::any_of(metadata.begin(), metadata.end(), [](const auto& item) { return item.first == kName; })) continue;
    metadata.emplace_back(kName, "geoarrow." + (*encoding == "WKB" ? std::string("wkb") : *encoding));
    metadata.emplace_back("ARROW:extension:metadata", extension_metadata(column));
  }
}

}  // namespace strom::format::geoarrow
