// Trees over points and boxes, against tries of all items; and boxes of floats.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "geo/build_packed_tree.hpp"
#include "geo/float_box.hpp"
#include "geometry_bytes.hpp"

using namespace strom::geo;
using namespace strom::geo::test;

namespace {

using Rows = std::vector<uint32_t>;

/// How points are spread.
enum class Spread { kEven, kLattice, kClusters, kOnePlace, kLine, kFarAway };
constexpr Spread kSpreads[] = {Spread::kEven,     Spread::kLattice, Spread::kClusters,
                               Spread::kOnePlace, Spread::kLine,    Spread::kFarAway};

Point random_point(Spread spread, std::mt19937_64* random) {
  std::uniform_real_distribution<double> unit(0, 1);
  const double x = unit(*random), y = unit(*random);
  switch (spread) {
    case Spread::kEven: return {x, y};
    case Spread::kLattice: return {std::floor(x * 12) / 12, std::floor(y * 12) / 12};
    case Spread::kClusters: return {std::floor(x * 4) + y * 1e-9, std::floor(y * 4) + x * 1e-9};
    case Spread::kOnePlace: return {0.25, 0.5};
    case Spread::kLine: return {x, 7};
    case Spread::kFarAway: return x < 0.01 ? Point{1e300 * y, -1e300 * x} : Point{x * 1e-3, y};
  }
  return {0, 0};
}

double computed_distance(Point a, Point b) {
  const double dx = a.x - b.x, dy = a.y - b.y;
  return std::sqrt(dx * dx + dy * dy);
}

class Trees {
 public:
  explicit Trees(const TreeInput& input) : image_(build_tree_index(input)) {}
  TreeIndex index() const { return TreeIndex(reinterpret_cast<const char*>(image_.data())); }
  Rows near(const NearQuery& query) const {
    const PackedTree points = index().points();
    const Rows found = all(points, [&](const PackedTree& tree, uint32_t item) { return tree.find_near(query, item); });
    // Group by group the same is found.
    if (points.items() > 0 && index().header().points.has_reach == 0) {
      Rows by_groups;
      for (uint32_t at = points.first_group_near(query); at != PackedTree::kNone;) {
        const uint32_t item = points.find_in_group(query, at);
        if (item != PackedTree::kNone) by_groups.push_back(points.row(item));
        const bool ends = item == PackedTree::kNone || (item + 1) % kTreeWidth == 0;
        at = ends ? points.next_group_near(query, at) : item + 1;
      }
      std::sort(by_groups.begin(), by_groups.end());
      EXPECT_EQ(by_groups, found);
    }
    return found;
  }
  Rows overlapping(const Box& box) const {
    return all(index().boxes(),
               [&](const PackedTree& tree, uint32_t item) { return tree.find_overlapping(box, item); });
  }

 private:
  template <class Find>
  Rows all(const PackedTree& tree, Find&& find) const {
    Rows rows;
    for (uint32_t item = find(tree, 0); item != PackedTree::kNone; item = find(tree, item + 1)) {
      rows.push_back(tree.row(item));
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  strom::base::LargeVector<uint64_t> image_;
};

TEST(PackedTree, FindsAllPointsWithinADistance) {
  std::mt19937_64 random(3);
  for (const Spread spread : kSpreads)
    for (const size_t count : {0, 1, 15, 16, 17, 256, 257, 3000, 4096, 5000}) {
      TreeInput input;
      input.rows = static_cast<uint32_t>(2 * count);
      for (uint32_t i = 0; i < count; ++i) input.points.add(box_of(random_point(spread, &random)), 2 * i);
      const Trees trees(input);
      for (int i = 0; i < 60; ++i) {
        const Point asked = random_point(spread, &random);
        const Point other = random_point(spread, &random);
        // Exactly as far away as some point, next to it, or anything.
        double distance = i % 3 == 0 ? 0 : computed_distance(asked, other);
        if (i % 3 == 1 && i % 2 == 0) distance = std::nextafter(distance, 0);
        if (!NearQuery::is_distance(distance)) continue;
        Rows expected;
        for (uint32_t k = 0; k < count; ++k) {
          const Box& at = input.points.boxes[k];
          if (computed_distance({at.min_x, at.min_y}, asked) <= distance) expected.push_back(2 * k);
        }
        EXPECT_EQ(trees.near(NearQuery::of(asked, distance)), expected) << static_cast<int>(spread) << " " << count;
      }
    }
}

TEST(PackedTree, PointsHaveDistancesOfTheirOwn) {
  std::mt19937_64 random(4);
  for (const Spread spread : kSpreads) {
    TreeInput input;
    input.rows = 2000;
    input.has_reach = true;
    for (uint32_t i = 0; i < input.rows; ++i) {
      input.points.add(box_of(random_point(spread, &random)), i);
      const double other = computed_distance(random_point(spread, &random), random_point(spread, &random));
      input.points.reach.push_back(i % 10 == 0 && NearQuery::is_distance(other) ? other : i % 7 * 1e-3);
    }
    const Trees trees(input);
    for (int i = 0; i < 100; ++i) {
      const Point asked = random_point(spread, &random);
      Rows expected;
      for (uint32_t k = 0; k < input.rows; ++k) {
        const Box& at = input.points.boxes[k];
        if (computed_distance({at.min_x, at.min_y}, asked) <= input.points.reach[k]) expected.push_back(k);
      }
      EXPECT_EQ(trees.near(NearQuery::of(asked, 0)), expected) << static_cast<int>(spread);
    }
  }
}

/// Squares of these distances are no numbers, or rounded to few bits.
TEST(PackedTree, TinyAndHugeDistances) {
  for (const double unit : {1e-170, 3e-162, 1e-154, 1e37, 5e-324}) {
    TreeInput input;
    input.rows = 100;
    for (uint32_t i = 0; i < input.rows; ++i) input.points.add(box_of(Point{unit * i, unit * (i % 7)}), i);
    const Trees trees(input);
    for (int factor = 0; factor < 9; ++factor) {
      const double distance = unit * factor;
      Rows expected;
      for (uint32_t k = 0; k < input.rows; ++k) {
        const Box& at = input.points.boxes[k];
        if (computed_distance({at.min_x, at.min_y}, {unit * 50, unit}) <= distance) expected.push_back(k);
      }
      EXPECT_EQ(trees.near(NearQuery::of({unit * 50, unit}, distance)), expected) << unit << " " << factor;
    }
  }
}

/// The distance is a little more than 1, and computed as 1.
TEST(PackedTree, ReachIsRounded) {
  TreeInput input;
  input.rows = 1;
  input.has_reach = true;
  input.points.add(box_of(Point{0, 1}), 0);
  input.points.reach.push_back(1);
  const Trees trees(input);
  const Point asked{0, -5e-324};
  EXPECT_EQ(trees.near(NearQuery::of(asked, 0)), Rows{0});
  EXPECT_EQ(trees.index().points().find_overlapping(box_of(asked), 0), 0u);
}

TEST(PackedTree, FindsAllOverlappingBoxes) {
  std::mt19937_64 random(5);
  for (const Spread spread : {Spread::kEven, Spread::kLattice, Spread::kClusters, Spread::kLine})
    for (const uint32_t count : {0u, 1u, 16u, 300u, 4097u}) {
      TreeInput input;
      input.rows = count;
      const auto random_box = [&] {
        Box box = float_box_of(random_point(spread, &random));
        if (random() % 2 == 0) box.add(float_box_of(random_point(spread, &random)));
        return box;
      };
      for (uint32_t i = 0; i < count; ++i) input.boxes.add(random_box(), i);
      const Trees trees(input);
      for (int i = 0; i < 50; ++i) {
        const Box asked = random_box();
        Rows expected;
        for (uint32_t k = 0; k < count; ++k)
          if (input.boxes.boxes[k].overlaps(asked)) expected.push_back(k);
        EXPECT_EQ(trees.overlapping(asked), expected);
      }
    }
}

TEST(FloatBox, RoundsOutwards) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  std::mt19937_64 random(6);
  for (int i = 0; i < 20000; ++i) {
    union {
      uint64_t bits;
      double value;
    } any = {random()};
    if (i % 2 == 0) any.value = static_cast<double>(static_cast<float>(any.value));
    if (!is_finite(any.value)) continue;
    const float low = float_beside(any.value, true), high = float_beside(any.value, false);
    if (std::fabs(any.value) >= static_cast<double>(kLargest)) {
      EXPECT_EQ(std::fabs(low), kLargest);
      EXPECT_EQ(low, high);
      continue;
    }
    EXPECT_LE(low, any.value);
    EXPECT_GE(high, any.value);
    EXPECT_TRUE(low == high || std::nextafterf(low, kLargest) == high || low == 0 || high == 0) << any.value;
    EXPECT_EQ(low == high, static_cast<double>(low) == any.value);
  }
  EXPECT_EQ(float_beside(1e-300, false), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(float_beside(-1e-300, true), -std::numeric_limits<float>::denorm_min());
}

TEST(FloatBox, OfGeometries) {
  Box box;
  const auto answer = [&box](const std::string& bytes) {
    SerializedGeometry geometry;
    EXPECT_TRUE(SerializedGeometry::open(bytes.data(), static_cast<int64_t>(bytes.size()), &geometry));
    return float_box(geometry, &box);
  };
  EXPECT_EQ(answer(serialized({{rectangle(1, 2, 3, 4)}})), BoxAnswer::kBox);
  EXPECT_EQ(box.max_y, 4);
  EXPECT_EQ(answer(serialized_point({0.1, 5})), BoxAnswer::kBox);
  EXPECT_LT(box.min_x, 0.1);
  EXPECT_GT(box.max_x, 0.1);
  EXPECT_EQ(box.min_y, 5);
  EXPECT_EQ(answer(serialized_point({NAN, 5})), BoxAnswer::kUncertain);
  EXPECT_EQ(answer(serialized({})), BoxAnswer::kNone);
}

}  // namespace
