// Matrices of intersections, crossings of lines, and largest distances.
#include "geo/relate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "geo/crossing.hpp"
#include "geometry_bytes.hpp"

using namespace strom::geo;
using namespace strom::geo::test;

namespace {

std::string matrix(const std::string& a, const std::string& b) {
  IntersectionMatrix out;
  return relate(opened(a), opened(b), &out) ? std::string(out.cells, sizeof out.cells) : "unknown";
}

int32_t direction(const std::string& a, const std::string& b) {
  int32_t out = 0;
  EXPECT_TRUE(crossing_direction(opened(a), opened(b), &out));
  return out;
}

TEST(Relate, OfPoints) {
  const std::string a = serialized_point({1, 2}), b = serialized_point({2, 1});
  EXPECT_EQ(matrix(a, a), "0FFFFFFF2");
  EXPECT_EQ(matrix(a, b), "FF0FFF0F2");
  EXPECT_EQ(matrix(a, serialized_point({NAN, 2})), "unknown");
  EXPECT_EQ(matrix(a, serialized_point({1, 2}, {2, 4326})), "unknown");
}

TEST(Relate, OfPolygonAndPoint) {
  const std::string area = serialized({{rectangle(0, 0, 4, 4), rectangle(1, 1, 2, 2)}});
  EXPECT_EQ(matrix(area, serialized_point({3, 3})), "0F2FF1FF2");
  EXPECT_EQ(matrix(area, serialized_point({1, 1.5})), "FF20F1FF2");
  EXPECT_EQ(matrix(area, serialized_point({1.5, 1.5})), "FF2FF10F2");
  EXPECT_EQ(matrix(serialized_point({3, 3}), area), "0FFFFF212");
  // Without an area, and with one that is not certain.
  EXPECT_EQ(matrix(serialized({{{{0, 0}, {4, 4}, {0, 0}, {0, 0}}}}), serialized_point({9, 3})), "unknown");
  const Ring twice = {{0, 0}, {4, 0}, {4, 4}, {0, 0}, {4, 0}, {4, 4}, {0, 0}};
  EXPECT_EQ(matrix(serialized({{twice}}), serialized_point({9, 3})), "unknown");
}

TEST(Relate, OfLineAndPoint) {
  const std::string line = lines({{{0, 0}, {4, 4}, {8, 0}}}), closed = lines({rectangle(0, 0, 4, 4)});
  EXPECT_EQ(matrix(line, serialized_point({2, 2})), "0F1FF0FF2");
  EXPECT_EQ(matrix(line, serialized_point({8, 0})), "FF10F0FF2");
  EXPECT_EQ(matrix(serialized_point({9, 0}), line), "FF0FFF102");
  EXPECT_EQ(matrix(closed, serialized_point({4, 2})), "0F1FFFFF2");
  EXPECT_EQ(matrix(closed, serialized_point({5, 2})), "FF1FFF0F2");
}

TEST(Relate, OfGeometriesThatAreApart) {
  const std::string area = serialized({{rectangle(0, 0, 4, 4)}}), line = lines({{{10, 0}, {14, 4}}});
  EXPECT_EQ(matrix(area, serialized({{rectangle(20, 0, 24, 4)}})), "FF2FF1212");
  EXPECT_EQ(matrix(area, line), "FF2FF1102");
  EXPECT_EQ(matrix(line, area), "FF1FF0212");
}

TEST(Relate, Patterns) {
  IntersectionMatrix m;
  ASSERT_TRUE(relate(opened(serialized({{rectangle(0, 0, 4, 4)}})), opened(serialized_point({3, 3})), &m));
  for (const char* pattern : {"T********", "0F2FF1FF2", "t*****ff*", "*********"}) EXPECT_TRUE(m.matches(pattern));
  for (const char* pattern : {"F********", "1********", "*T*******", "*0*******"}) EXPECT_FALSE(m.matches(pattern));
}

TEST(Crossing, Directions) {
  const std::string line = lines({{{0, 0}, {8, 0}}});
  const std::string right = lines({{{1, -1}, {1, 1}}}), left = lines({{{1, 1}, {1, -1}}});
  EXPECT_EQ(direction(line, right), -1);
  EXPECT_EQ(direction(line, left), 1);
  EXPECT_EQ(direction(line, lines({{{1, -1}, {1, 1}, {2, 1}, {2, -1}}})), -3);
  EXPECT_EQ(direction(line, lines({{{1, 1}, {1, -1}, {2, -1}, {2, 1}}})), 3);
  EXPECT_EQ(direction(line, lines({{{1, -1}, {1, 1}, {2, 1}, {2, -1}, {3, -1}, {3, 1}}})), -2);
  EXPECT_EQ(direction(line, lines({{{1, 1}, {2, 0}, {3, 1}}})), 0 + direction(line, lines({{{2, 0}, {3, 1}}})));
  EXPECT_EQ(direction(line, lines({{{1, 1}, {2, 1}}})), 0);
  int32_t out;
  EXPECT_FALSE(crossing_direction(opened(line), opened(serialized_point({1, 1})), &out));
  EXPECT_FALSE(crossing_direction(opened(line), opened(lines({{{1, 1}, {1, 1}}})), &out));
}

}  // namespace
