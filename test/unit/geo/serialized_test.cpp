// Reading serialised geometries and well-known binary.
#include <gtest/gtest.h>

#include "geo/rings.hpp"
#include "geometry_bytes.hpp"

using namespace strom::geo;
using namespace strom::geo::test;

namespace {

const std::vector<Polygon> kTwoParts{{rectangle(0, 0, 10, 10), rectangle(2, 2, 4, 4), rectangle(5, 5, 6, 6)},
                                     {rectangle(20, 0, 30, 10)}};

void expect_two_parts(const Rings& rings) {
  ASSERT_TRUE(rings.decidable);
  ASSERT_EQ(rings.rings.size(), 4u);
  EXPECT_EQ(rings.points.size(), 20u);
  EXPECT_EQ(rings.srid, 4326);
  EXPECT_EQ(rings.rings[2].part, 0);
  EXPECT_EQ(rings.rings[3].part, 1);
  EXPECT_TRUE(rings.rings[0].shell && rings.rings[3].shell && !rings.rings[1].shell && !rings.rings[2].shell);
  EXPECT_EQ(rings.points[rings.rings[1].first_point + 2].x, 4);
  EXPECT_EQ(rings.box.max_x, 30);
}

TEST(Serialized, HasAllForms) {
  for (int bits = 0; bits < 32; ++bits) {
    const Form form{
        bits & 1 ? 2 : 1, 4326, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0 && (bits & 1)};
    const std::string bytes = serialized(kTwoParts, form);
    SerializedGeometry geometry;
    ASSERT_TRUE(SerializedGeometry::open(bytes.data(), static_cast<int64_t>(bytes.size()), &geometry));
    EXPECT_EQ(geometry.type(), GeometryType::kMultiPolygon);
    EXPECT_EQ(geometry.has_z(), form.z);
    Box box;
    EXPECT_EQ(geometry.stored_box(&box), form.box);
    if (form.box) {
      EXPECT_EQ(box.max_x, 30);
      EXPECT_EQ(box.min_y, 0);
    }
    expect_two_parts(read_rings(bytes.data(), static_cast<int64_t>(bytes.size())));
    for (const bool swapped : {false, true}) {
      const std::string binary = wkb(kTwoParts, form, swapped);
      expect_two_parts(read_wkb_rings(binary.data(), static_cast<int64_t>(binary.size())));
    }
  }
}

TEST(Serialized, KnowsTheSridsSign) {
  for (const int32_t srid : {0, 1, 4326, 999999, -1}) {
    const std::string bytes = serialized_point({1, 2}, {2, srid});
    SerializedGeometry geometry;
    ASSERT_TRUE(SerializedGeometry::open(bytes.data(), static_cast<int64_t>(bytes.size()), &geometry));
    EXPECT_EQ(geometry.srid(), srid);
    Point point;
    ASSERT_TRUE(read_point(geometry, &point));
    EXPECT_EQ(point.x, 1);
    EXPECT_EQ(point.y, 2);
  }
}

TEST(Serialized, ReadsNothingBehindTheEnd) {
  const std::string whole = serialized(kTwoParts, {2, 1, true, true}), binary = wkb(kTwoParts);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<int64_t>(size));
    EXPECT_FALSE(read_rings(part.data(), static_cast<int64_t>(size)).decidable);
  }
  for (size_t size = 0; size < binary.size(); ++size) {
    const std::vector<char> part(binary.begin(), binary.begin() + static_cast<int64_t>(size));
    EXPECT_FALSE(read_wkb_rings(part.data(), static_cast<int64_t>(size)).decidable);
  }
}

TEST(Serialized, TellsWhatIsNotDecidable) {
  const auto decidable = [](const std::vector<Polygon>& polygons) {
    const std::string bytes = serialized(polygons);
    return read_rings(bytes.data(), static_cast<int64_t>(bytes.size())).decidable;
  };
  EXPECT_TRUE(decidable({}));
  EXPECT_TRUE(decidable({{}}));
  EXPECT_TRUE(decidable({{rectangle(0, 0, 1, 1)}, {}}));
  EXPECT_TRUE(decidable({{{}}}));
  EXPECT_FALSE(decidable({{{}, rectangle(0, 0, 1, 1)}}));
  EXPECT_FALSE(decidable({{{{0, 0}, {1, 0}, {0, 0}}}}));
  EXPECT_FALSE(decidable({{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}));
  EXPECT_FALSE(decidable({{{{0, 0}, {1, 0}, {1, 1 / 0.0}, {0, 1}, {0, 0}}}}));
  EXPECT_FALSE(decidable({{{{0, 0}, {1, 0}, {0 / 0.0, 1}, {0, 1}, {0, 0}}}}));
  const std::string point = serialized_point({1, 2});
  EXPECT_FALSE(read_rings(point.data(), static_cast<int64_t>(point.size())).decidable);
}

TEST(Wkb, HasEmptyPoints) {
  std::string bytes;
  put_wkb_type(&bytes, 1, {}, false, true);
  put_point(&bytes, {0 / 0.0, 0 / 0.0}, {});
  WkbPaths paths(bytes.data(), static_cast<int64_t>(bytes.size()));
  Path path;
  ASSERT_EQ(paths.next(&path), Step::kPath);
  EXPECT_EQ(path.count, 0);
  EXPECT_EQ(paths.next(&path), Step::kEnd);
  EXPECT_EQ(paths.type(), GeometryType::kPoint);
}

}  // namespace
