#include "base/half.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "base/half_text.hpp"

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

struct Reading {
  HalfText outcome;
  uint16_t half;
  size_t length;
  bool operator==(const Reading&) const = default;
};

Reading read(const std::string& text) {
  Reading reading{HalfText::kNoNumber, 0, 0};
  char* end;
  reading.outcome = half_of_text(text.c_str(), &end, &reading.half);
  reading.length = static_cast<size_t>(end - text.c_str());
  return reading;
}

TEST(Half, TextsAreRoundedOnce) {
  const auto halves = [](const std::string& text, double expected) {
    EXPECT_EQ(read(text), (Reading{HalfText::kDone, double_to_half(expected), text.size()})) << text;
    EXPECT_EQ(read("-" + text), (Reading{HalfText::kDone, double_to_half(-expected), text.size() + 1})) << text;
  };
  halves("2049", 2048);
  halves("2049.0000001", 2050);  // a tie as a float
  halves("2049.00000000000000000000000001", 2050);
  halves("2048.99999999999999999999999999", 2048);
  halves("2051", 2052);  // a tie as a double
  halves("2050.99999999999999999999999999", 2050);
  halves("2.99e-8", std::ldexp(1, -24));
  halves("0.0000000298023223876953125000000000000000000001", std::ldexp(1, -24));  // 2^-25 and a little more
  halves("65519.99999999999999999999", 65504);
  halves("0", 0);
  halves("inf", INFINITY);
  halves("0x1.8p1", 3);
  EXPECT_TRUE(std::isnan(half_to_float(read("NaN").half)));
  for (const char* text : {"65520", "-65520", "70000", "1e400", "2.98e-8", "-1e-9", "1e-400"})
    EXPECT_EQ(read(text).outcome, HalfText::kOutOfRange) << text;
  for (const char* text : {"", "x", "-"}) EXPECT_EQ(read(text).outcome, HalfText::kNoNumber) << text;
  EXPECT_EQ(read("1.5x"), (Reading{HalfText::kDone, double_to_half(1.5), 3}));
}

}  // namespace
}  // namespace strom::base
