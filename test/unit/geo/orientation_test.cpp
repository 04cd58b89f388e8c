// The side of a line, against integers of 128 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "geo/orientation.hpp"

using namespace strom::geo;

namespace {

using int128 = __int128;

struct Whole {
  int64_t x, y;
};

Side exact(Whole a, Whole b, Whole p) {
  const int128 value = int128{b.x - a.x} * (p.y - a.y) - int128{p.x - a.x} * (b.y - a.y);
  return value > 0 ? Side::kLeft : value < 0 ? Side::kRight : Side::kOn;
}
Point scaled(Whole p, int exponent) {
  return {std::ldexp(static_cast<double>(p.x), exponent), std::ldexp(static_cast<double>(p.y), exponent)};
}

/// Numbers of 62 bits with 53 bits of mantissa: their differences are no doubles.
int64_t random_number(std::mt19937_64* random) {
  const int bits = static_cast<int>((*random)() % 62);
  const auto value = static_cast<int64_t>((*random)() & ((uint64_t{1} << bits) - 1));
  const int64_t kept = bits > 50 ? value >> (bits - 50) << (bits - 50) : value;
  return (*random)() % 2 == 0 ? kept : -kept;
}

TEST(Orientation, IsThatOfIntegers) {
  std::mt19937_64 random(1);
  int exactly_on = 0;
  for (int i = 0; i < 300000; ++i) {
    const int scale = i % 3 == 0 ? 0 : i % 3 == 1 ? -300 : 200;
    const Whole a{random_number(&random), random_number(&random)}, b{random_number(&random), random_number(&random)};
    Whole p{random_number(&random), random_number(&random)};
    if (i % 2 == 0) {  // near the line
      const double t = static_cast<double>(random() % 1000) / 1000;
      p = {static_cast<int64_t>(static_cast<double>(a.x) + t * static_cast<double>(b.x - a.x)) >> 10 << 10,
           static_cast<int64_t>(static_cast<double>(a.y) + t * static_cast<double>(b.y - a.y)) >> 10 << 10};
    }
    const Side expected = exact(a, b, p);
    exactly_on += expected == Side::kOn;
    const Point x = scaled(a, scale), y = scaled(b, scale), z = scaled(p, scale);
    ASSERT_EQ(side_of(x, y, z), expected) << i;
    const Side agreed = agreed_side(x, y, z);
    ASSERT_TRUE(agreed == expected || agreed == Side::kUnknown) << i;
    if (agreed == expected) {
      ASSERT_EQ(rounded_side(x, y, z).side(), expected);
    }
  }
  EXPECT_GT(exactly_on, 100);
}

TEST(Orientation, FindsPointsOnTheLine) {
  EXPECT_EQ(agreed_side({0, 0}, {3, 3}, {1, 1}), Side::kOn);
  EXPECT_EQ(agreed_side({0, 0}, {3, 3}, {1, std::nextafter(1, 2)}), Side::kLeft);
  EXPECT_EQ(agreed_side({0, 0}, {3, 3}, {1, std::nextafter(1, 0)}), Side::kRight);
  EXPECT_EQ(agreed_side({0.1, 0.1}, {0.3, 0.3}, {0.2, 0.2}), Side::kOn);
  EXPECT_EQ(agreed_side({5, 5}, {5, 5}, {6, 7}), Side::kOn);
}

TEST(Orientation, SaysWhatItCannotKnow) {
  EXPECT_EQ(side_of({0, 0}, {1e-200, 1e-200}, {2e-200, 3e-200}), Side::kUnknown);
  EXPECT_EQ(side_of({0, 0}, {1e200, 1e200}, {2e200, 3e200}), Side::kUnknown);
  EXPECT_EQ(side_of({0, 0}, {NAN, 1}, {2, 3}), Side::kUnknown);
  EXPECT_EQ(side_of({0, 0}, {INFINITY, 1}, {2, 3}), Side::kUnknown);
  // Rounding hides that the point lies beside the line: (1 + 2^-52)^2 - (1 + 2^-51).
  const double one = std::nextafter(1, 2), more = std::nextafter(one, 2);
  EXPECT_EQ(side_of({0, 0}, {one, 1}, {more, one}), Side::kLeft);
  EXPECT_EQ(agreed_side({0, 0}, {one, 1}, {more, one}), Side::kUnknown);
}

}  // namespace
