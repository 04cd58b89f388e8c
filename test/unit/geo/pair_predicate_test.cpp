// Predicates of two geometries that need no GEOS, measures, and relations of boxes.
#include <gtest/gtest.h>

#include <cmath>

#include "geo/measure.hpp"
#include "geo/pair_predicate.hpp"
#include "geometry_bytes.hpp"

using namespace strom::geo;
using namespace strom::geo::test;

namespace {

Verdict ask(PairPredicate predicate, const std::string& a, const std::string& b) {
  return decide(predicate, opened(a), opened(b));
}

double measured(Measure wanted, const std::string& bytes) {
  double out = -1;
  EXPECT_TRUE(measure(opened(bytes), wanted, &out));
  return out;
}

TEST(PairPredicate, OfPoints) {
  const std::string a = serialized_point({1, 0.0}), same = serialized_point({1, -0.0}), b = serialized_point({1, 2});
  for (const PairPredicate predicate :
       {PairPredicate::kContains, PairPredicate::kCovers, PairPredicate::kIntersects, PairPredicate::kEquals}) {
    EXPECT_EQ(ask(predicate, a, same), Verdict::kYes);
    EXPECT_EQ(ask(predicate, a, b), Verdict::kNo);
  }
  for (const PairPredicate predicate : {PairPredicate::kTouches, PairPredicate::kCrosses, PairPredicate::kOverlaps})
    EXPECT_EQ(ask(predicate, a, same), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kIntersects, a, serialized_point({NAN, 2})), Verdict::kUncertain);
  EXPECT_EQ(ask(PairPredicate::kIntersects, a, serialized_point({1, 2}, {2, 4326})), Verdict::kUncertain);
}

TEST(PairPredicate, OfPolygonAndPoint) {
  const std::string area = serialized({{rectangle(0, 0, 4, 4)}});
  const std::string inside = serialized_point({1, 1}), edge = serialized_point({4, 1}), out = serialized_point({5, 1});
  EXPECT_EQ(ask(PairPredicate::kTouches, area, edge), Verdict::kUncertain);
  EXPECT_EQ(ask(PairPredicate::kTouches, edge, area), Verdict::kUncertain);
  EXPECT_EQ(ask(PairPredicate::kTouches, area, inside), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kContains, area, edge), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kCovers, area, edge), Verdict::kYes);
  EXPECT_EQ(ask(PairPredicate::kCrosses, inside, area), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kEquals, inside, area), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kContains, inside, area), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kIntersects, out, area), Verdict::kNo);
}

TEST(PairPredicate, OfLineAndPoint) {
  const std::string line = lines({{{0, 0}, {4, 4}, {8, 0}}});
  const auto at = [](double x, double y) { return serialized_point({x, y}); };
  EXPECT_EQ(ask(PairPredicate::kContains, line, at(2, 2)), Verdict::kYes);
  EXPECT_EQ(ask(PairPredicate::kContains, line, at(4, 4)), Verdict::kYes);
  EXPECT_EQ(ask(PairPredicate::kContains, line, at(0, 0)), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kTouches, at(8, 0), line), Verdict::kUncertain);
  EXPECT_EQ(ask(PairPredicate::kIntersects, line, at(2, 2.000000001)), Verdict::kNo);
  // A closed line has no ends, and where two lines meet there is none.
  const std::string closed = lines({rectangle(0, 0, 4, 4)});
  EXPECT_EQ(ask(PairPredicate::kContains, closed, at(0, 0)), Verdict::kYes);
  EXPECT_EQ(ask(PairPredicate::kTouches, closed, at(0, 0)), Verdict::kNo);
  const std::string joined = lines({{{0, 0}, {2, 2}}, {{2, 2}, {4, 0}}});
  EXPECT_EQ(ask(PairPredicate::kContains, joined, at(2, 2)), Verdict::kYes);
  EXPECT_EQ(ask(PairPredicate::kTouches, joined, at(4, 0)), Verdict::kUncertain);
  // An end that lies on another line, and lines that are none, are PostGIS's.
  EXPECT_EQ(ask(PairPredicate::kTouches, lines({{{0, 0}, {2, 2}}, {{0, 2}, {4, 2}}}), at(2, 2)), Verdict::kUncertain);
  EXPECT_EQ(ask(PairPredicate::kContains, lines({{{2, 2}, {2, 2}}}), at(2, 2)), Verdict::kUncertain);
}

// The line comes back along itself, so that GEOS rounds crossings to doubles, of which the point is one. It lies on
// none of the edges, and st_intersects is true.
TEST(PairPredicate, OfLineAndRoundedCrossing) {
  const std::string crossing = lines({{{1000000000000000.6, 142857.24285714288},
                                       {1000000000000000.2, 142857.84285714288},
                                       {1000000000000000.1, 142857.94285714286},
                                       {1000000000000000.5, 142857.64285714287}}});
  const std::string point = serialized_point({1000000000000000.25, 142857.84285714285});
  EXPECT_EQ(ask(PairPredicate::kIntersects, crossing, point), Verdict::kUncertain);
}

TEST(PairPredicate, OfBoxes) {
  const std::string a = serialized({{rectangle(0, 0, 4, 4)}}), b = serialized({{rectangle(1, 1, 9, 9)}});
  const std::string far = serialized({{rectangle(20, 20, 24, 24)}});
  for (const PairPredicate predicate :
       {PairPredicate::kContains, PairPredicate::kCovers, PairPredicate::kIntersects, PairPredicate::kTouches,
        PairPredicate::kCrosses, PairPredicate::kOverlaps, PairPredicate::kEquals})
    EXPECT_EQ(ask(predicate, a, far), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kContains, a, b), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kEquals, a, a), Verdict::kYes);
  EXPECT_EQ(ask(PairPredicate::kIntersects, a, serialized({{}})), Verdict::kUncertain);
}

/// GEOS has an error for a ring that is not closed, and PostGIS asks it where the upper corners of boxes are the same.
TEST(PairPredicate, EqualUpperCorners) {
  const std::string open = serialized({{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}),
                    smaller = serialized({{rectangle(1, 1, 4, 4)}});
  EXPECT_EQ(ask(PairPredicate::kEquals, open, smaller), Verdict::kUncertain);
  EXPECT_EQ(ask(PairPredicate::kEquals, smaller, open), Verdict::kUncertain);
  EXPECT_EQ(ask(PairPredicate::kEquals, open, serialized_point({4, 4})), Verdict::kUncertain);
  EXPECT_EQ(ask(PairPredicate::kEquals, open, serialized({{rectangle(0, 0, 4, 5)}})), Verdict::kNo);
  EXPECT_EQ(ask(PairPredicate::kEquals, serialized({{rectangle(0, 0, 4, 4)}}), smaller), Verdict::kNo);
}

TEST(Box, HasAllRelations) {
  const Box a{0, 0, 2, 2}, b{1, 3, 2, 4};
  EXPECT_FALSE(is_so(BoxRelation::kOverlaps, a, b));
  EXPECT_TRUE(is_so(BoxRelation::kContains, a, {0, 1, 2, 2}));
  EXPECT_TRUE(is_so(BoxRelation::kWithin, {0, 1, 2, 2}, a));
  EXPECT_TRUE(is_so(BoxRelation::kSame, a, a));
  EXPECT_FALSE(is_so(BoxRelation::kLeft, a, b));
  EXPECT_TRUE(is_so(BoxRelation::kLeft, a, {3, 0, 4, 1}));
  EXPECT_TRUE(is_so(BoxRelation::kRight, {3, 0, 4, 1}, a));
  EXPECT_TRUE(is_so(BoxRelation::kOverLeft, a, b));
  EXPECT_FALSE(is_so(BoxRelation::kOverRight, a, b));
  EXPECT_TRUE(is_so(BoxRelation::kOverRight, b, a));
  EXPECT_TRUE(is_so(BoxRelation::kBelow, a, b));
  EXPECT_TRUE(is_so(BoxRelation::kAbove, b, a));
  EXPECT_TRUE(is_so(BoxRelation::kOverBelow, a, b));
  EXPECT_TRUE(is_so(BoxRelation::kOverAbove, b, a));
}

TEST(Measures, OfLinesAndPolygons) {
  const std::string areas = serialized({{rectangle(0, 0, 4, 4), rectangle(1, 1, 2, 2)}, {rectangle(10, 0, 12, 1)}});
  EXPECT_EQ(measured(Measure::kArea, areas), 17);
  EXPECT_EQ(measured(Measure::kPerimeter, areas), 26);
  EXPECT_EQ(measured(Measure::kLength, areas), 0);
  EXPECT_EQ(measured(Measure::kLength, lines({{{0, 0}, {3, 4}}, {{0, 0}, {0, 1}, {1, 1}}})), 7);
  EXPECT_EQ(measured(Measure::kArea, lines({{{0, 0}, {3, 4}}})), 0);
  EXPECT_EQ(measured(Measure::kLength, serialized_point({1, 2})), 0);
  std::string damaged = areas;
  damaged.resize(areas.size() - 8);
  double out;
  EXPECT_FALSE(measure(opened(damaged), Measure::kArea, &out));
}

}  // namespace
