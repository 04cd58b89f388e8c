// Extension types of geometries, their coordinate systems, and the JSON that these stand in.
#include "format/geoarrow/geometry_field.hpp"

#include <gtest/gtest.h>

#include "format/geoarrow/json_members.hpp"

using namespace strom::format::geoarrow;
using strom::columnar::Field;
using strom::columnar::Layout;

namespace {

Field field(const std::string& name, Layout layout, const std::string& metadata = "") {
  Field made;
  made.layout = layout;
  made.metadata = {{"ARROW:extension:name", name}, {"ARROW:extension:metadata", metadata}};
  return made;
}

TEST(JsonMembers, SkipsWhatIsNested) {
  const std::string text = R"( {"a\u00e9\"" : [1, {"b": "}]"}], "c":{"d":"\\"} , "e": 12, "c": null} )";
  const auto members = json_members(text);
  ASSERT_EQ(members.size(), 4u);
  EXPECT_EQ(members[0].first, "a\xC3\xA9\"");
  EXPECT_EQ(members[0].second, R"([1, {"b": "}]"}])");
  EXPECT_EQ(json_member(text, "e"), "12");
  EXPECT_EQ(json_member(text, "c"), "null");
  EXPECT_EQ(json_elements(R"(["x", [1], {}])").size(), 3u);
  EXPECT_EQ(json_string(R"("\ud83d\ude00\n")"), "\xF0\x9F\x98\x80\n");
}

TEST(JsonMembers, TakesAnything) {
  const std::string text = R"({"a": [1, "x\u00e9"], "b": {"c": 1}})";
  for (size_t size = 0; size < text.size(); ++size) {
    const std::string part = text.substr(0, size);
    EXPECT_LE(json_members(part).size(), 2u);
    (void)json_string(part);
    (void)json_elements(part);
  }
}

TEST(GeometryField, SridOfCrs) {
  EXPECT_EQ(srid_of_crs(R"("EPSG:2451")"), 2451);
  EXPECT_EQ(srid_of_crs(R"("OGC:CRS84")"), 4326);
  EXPECT_EQ(srid_of_crs(R"({"type": "ProjectedCRS", "id": {"authority": "EPSG", "code": 3857}})"), 3857);
  EXPECT_EQ(srid_of_crs(R"({"id": {"authority": "OGC", "code": "CRS84"}})"), 4326);
  EXPECT_EQ(srid_of_crs(R"({"id": {"authority": "ESRI", "code": 102100}})"), 0);
  EXPECT_EQ(srid_of_crs("null"), 0);
  EXPECT_EQ(srid_of_crs(R"("EPSG:12x")"), 0);
  EXPECT_EQ(srid_of_crs(R"("GEOGCS[\"WGS 84\"]")"), 0);
}

TEST(GeometryField, OfWellKnownBinary) {
  for (const char* name : {"geoarrow.wkb", "ogc.wkb"}) {
    const auto found = geometry_field(field(name, Layout::kBinaryView, R"({"crs": "EPSG:4326"})"));
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->is_wkb && found->expected.any);
    EXPECT_EQ(found->srid, 4326);
  }
  EXPECT_FALSE(geometry_field(field("geoarrow.wkb", Layout::kBinary, R"({"edges": "spherical"})")));
  EXPECT_FALSE(geometry_field(field("geoarrow.wkb", Layout::kUtf8)));
  EXPECT_FALSE(geometry_field(field("geoarrow.other", Layout::kBinary)));
}

TEST(GeometryField, OfCoordinates) {
  Field points = field("geoarrow.point", Layout::kStruct);
  for (const char* axis : {"x", "y", "m"}) {
    Field child;
    child.name = axis;
    child.layout = Layout::kFloat64;
    points.children.push_back(child);
  }
  auto found = geometry_field(points);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->expected.has_m && !found->expected.has_z && !found->is_interleaved);
  points.children[2].layout = Layout::kFloat32;
  EXPECT_FALSE(geometry_field(points));
  points.children.resize(1);
  EXPECT_FALSE(geometry_field(points));

  Field flat = field("geoarrow.point", Layout::kFixedList);
  flat.byte_width = 4;
  flat.children.resize(1);
  flat.children[0].layout = Layout::kFloat64;
  found = geometry_field(flat);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->is_interleaved && found->expected.has_z && found->expected.has_m);
  flat.byte_width = 5;
  EXPECT_FALSE(geometry_field(flat));
}

}  // namespace
