#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace strom::base {
namespace {

TEST(Half, EveryValueSurvives) {
  for (uint32_t half = 0; half < 0x10000; ++half) {
    const float value = half_to_float(static_cast<uint16_t>(half));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(half_to_float(double_to_half(value)))) << half;
    else
      EXPECT_EQ(double_to_half(value), half);
  }
  EXPECT_EQ(half_to_float(0x3c00), 1);
  EXPECT_EQ(half_to_float(0x7bff), 65504);
  EXPECT_EQ(half_to_float(0x0001), std::ldexp(1.0f, -24));
}

TEST(Half, RoundsToTheNearestAndToEven) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const auto below = static_cast<uint16_t>(random() % 0x7bff);  // below + 1 is finite, too
    const double a = half_to_float(below), b = half_to_float(static_cast<uint16_t>(below + 1)), middle = (a + b) / 2;
    EXPECT_EQ(double_to_half(middle), below & 1 ? below + 1 : below);
    EXPECT_EQ(double_to_half(std::nextafter(middle, 1e9)), below + 1);
    EXPECT_EQ(double_to_half(-std::nextafter(middle, 0)), below | 0x8000);
  }
  EXPECT_EQ(double_to_half(65519.99), 0x7bff);
  EXPECT_EQ(double_to_half(65520), 0x7c00);
  EXPECT_EQ(double_to_half(1e300), 0x7c00);
  EXPECT_EQ(double_to_half(1e-300), 0);
}

}  // namespace
}  // namespace strom::base
