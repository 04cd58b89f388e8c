// Points of rows of any length in a box, one by one: corners, edges, what is not finite.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "geo/points_in_box.hpp"

namespace strom::geo {
namespace {

TEST(PointsInBox, FindsEdgesAndWhatIsNotFinite) {
  const Box box{1, -2, 3, 2};
  const double beyond = std::nextafter(3.0, 4.0), infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> xs = {0, 1, 2, 3, beyond, NAN, infinity, -infinity},
                            ys = {-2.5, -2, 0, 2, 3, NAN, infinity};
  std::vector<double> x, y;
  std::vector<int32_t> expected;
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const double one : xs)
      for (const double other : ys) {
        const bool finite = std::isfinite(one) && std::isfinite(other);
        const bool in = one >= 1 && one <= 3 && other >= -2 && other <= 2;
        if (in || !finite) expected.push_back(static_cast<int32_t>(x.size()));
        x.push_back(one);
        y.push_back(other);
      }
  for (size_t count = 0; count <= x.size(); ++count) {
    std::vector<int32_t> positions(count + kBoxLanes);
    const int found = points_in_box(box, x.data(), y.data(), static_cast<int>(count), positions.data());
    positions.resize(static_cast<size_t>(found));
    std::vector<int32_t> of_count;
    for (const int32_t position : expected)
      if (position < static_cast<int32_t>(count)) of_count.push_back(position);
    EXPECT_EQ(positions, of_count) << count;
  }
}

}  // namespace
}  // namespace strom::geo
