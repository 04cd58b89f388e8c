// Well-known binary as PostGIS stores it.
#include "geo/stored_form.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "geometry_bytes.hpp"

using namespace strom::geo;
using namespace strom::geo::test;

namespace {

std::string stored(const std::string& wkb, int32_t srid = 0, const Expected& expected = {}) {
  StoredForm form;
  Bytes out;
  const char* problem = store_wkb(wkb.data(), static_cast<int64_t>(wkb.size()), srid, expected, &form, &out);
  return problem != nullptr ? problem : std::string(out.begin(), out.end());
}

std::string wkb_points(uint32_t type, const std::vector<Point>& points, bool has_count = true) {
  std::string bytes(1, 1);
  put(&bytes, type);
  if (has_count) put(&bytes, static_cast<uint32_t>(points.size()));
  for (const Point point : points) put_point(&bytes, point, {});
  return bytes;
}

const std::vector<Polygon> kOne{{rectangle(0, 0, 10, 10), rectangle(2, 2, 4, 4)}};
const std::vector<Polygon> kTwo{{rectangle(0, 0, 10, 10), rectangle(2, 2, 4, 4), rectangle(5, 5, 6, 6)},
                                {rectangle(20, 0, 30, 10)}};

TEST(StoredForm, OfPolygons) {
  for (const bool swapped : {false, true}) {
    EXPECT_EQ(stored(wkb(kOne, {}, swapped)), serialized(kOne));
    EXPECT_EQ(stored(wkb(kTwo, {}, swapped), 4326), serialized(kTwo, {.srid = 4326}));
    // An SRID of its own counts.
    EXPECT_EQ(stored(wkb(kTwo, {.srid = 25}, swapped), 4326), serialized(kTwo, {.srid = 25}));
  }
}

TEST(StoredForm, OfPoints) {
  EXPECT_EQ(stored(wkb_points(1, {{1, 2}}, false), 4326), serialized_point({1, 2}, {.srid = 4326}));
  const std::string empty = stored(wkb_points(1, {{NAN, NAN}}, false));
  EXPECT_EQ(empty, serialized_header({.box = false}, {}) + std::string("\1\0\0\0\0\0\0\0", 8));
}

TEST(StoredForm, BoxesAreOfMoreThanTwoPoints) {
  const std::vector<Point> two = {{0, 0}, {4, 4}};
  EXPECT_EQ(stored(wkb_points(2, two)), lines({two}));
  const std::string three = stored(wkb_points(2, {{0, 0}, {4, 4}, {0.1, 5}}));
  Box box;
  ASSERT_TRUE(opened(three).stored_box(&box));
  EXPECT_EQ(box.max_x, 4);
  EXPECT_EQ(box.min_x, 0);
  EXPECT_EQ(box.max_y, 5);
}

TEST(StoredForm, RefusesWhatPostgisRefuses) {
  const std::string open_ring = wkb({{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}});
  EXPECT_EQ(stored(open_ring), "a ring is not closed");
  EXPECT_EQ(stored(wkb({{{{0, 0}, {1, 0}, {0, 0}}}})), "a ring has less than four points");
  EXPECT_EQ(stored(wkb_points(2, {{0, 0}})), "a line has one point");
  EXPECT_EQ(stored(wkb_points(8, {{0, 0}})), "curves and surfaces in space are not supported");
  EXPECT_EQ(stored(wkb_points(99, {{0, 0}})), "its type is unknown");
  EXPECT_EQ(stored(wkb(kOne), 0, {GeometryType::kPoint, false, false, false}), "it has another type than the column");
  std::string mixed = wkb_points(6, {});
  mixed[5] = 1;
  EXPECT_EQ(stored(mixed + wkb_points(2, {{0, 0}, {1, 1}})), "it has members of another type");
}

TEST(StoredForm, ReadsNothingBehindTheEnd) {
  const std::string whole = wkb(kTwo, {.z = true});
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<int64_t>(size));
    StoredForm form;
    Bytes out;
    EXPECT_NE(store_wkb(part.data(), static_cast<int64_t>(size), 0, {}, &form, &out), nullptr);
    EXPECT_TRUE(out.empty());
  }
}

}  // namespace
