// Statistics in a file's metadata: both forms, what is rounded outwards, and what counts as not known.
#include "format/arrow/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>

namespace strom::test {
namespace {

using columnar::Bounds;
using columnar::Field;
using columnar::Layout;
using format::arrow::batch_bounds;
using format::arrow::field_bounds;

Field field_of(Layout layout, int scale = 0) {
  Field field;
  field.layout = layout;
  field.scale = scale;
  return field;
}

std::vector<std::optional<Bounds>> of_field(Layout layout, const std::string& low, const std::string& high,
                                            int batches) {
  Field field = field_of(layout);
  field.metadata = {{"min_values", low}, {"max_values", high}};
  return field_bounds(field, batches);
}

std::string print(const std::optional<Bounds>& bounds) {
  if (!bounds) return "unknown";
  switch (bounds->kind) {
    case Bounds::Kind::kInteger:
      return std::to_string(static_cast<int64_t>(bounds->low)) + ".." +
             std::to_string(static_cast<int64_t>(bounds->high));
    case Bounds::Kind::kReal: return std::to_string(bounds->low_real) + ".." + std::to_string(bounds->high_real);
    case Bounds::Kind::kText: return bounds->low_text + ".." + bounds->high_text + (bounds->high_is_prefix ? "*" : "");
  }
  return "";
}

TEST(ArrowStatistics, FieldMetadata) {
  const auto bounds = of_field(Layout::kInt32, "1,null,-5", "2,null,7", 3);
  ASSERT_EQ(bounds.size(), 3u);
  EXPECT_EQ(print(bounds[0]), "1..2");
  EXPECT_EQ(print(bounds[1]), "unknown");
  EXPECT_EQ(print(bounds[2]), "-5..7");
  EXPECT_TRUE(of_field(Layout::kInt32, "1,2", "1,2", 3).empty());
  EXPECT_TRUE(of_field(Layout::kInt32, "1,2,3", "1,2", 3).empty());
  EXPECT_EQ(print(of_field(Layout::kTimestamp, "1577836800000", "1577836800001", 1)[0]),
            "1577836800000..1577836800001");
  const auto wide = of_field(Layout::kUInt64, "9223372036854775808", "18446744073709551615", 1);
  ASSERT_TRUE(wide[0].has_value());
  EXPECT_TRUE(wide[0]->low == __int128{INT64_MAX} + 1 && wide[0]->high == __int128{UINT64_MAX});
  EXPECT_EQ(print(of_field(Layout::kUInt64, "-1", "5", 1)[0]), "unknown");
  EXPECT_EQ(print(of_field(Layout::kTime64, "0", "86400000000000", 1)[0]), "0..86400000000000");
  EXPECT_EQ(print(of_field(Layout::kTime32, "0", "2147483648", 1)[0]), "unknown");
  EXPECT_EQ(print(of_field(Layout::kUtf8, "1", "2", 1)[0]), "unknown");  // of others, who may have cut it
  EXPECT_EQ(print(of_field(Layout::kUtf8, R"("a%2C","b%C3")", R"("b","%7F")", 2)[0]), "a,..b");
  EXPECT_EQ(print(of_field(Layout::kUtf8, R"("a%2C","b%C3")", R"("b","%7F")", 2)[1]), "b\xC3..\x7F");
  EXPECT_EQ(print(of_field(Layout::kUtf8, R"("b")", R"("a")", 1)[0]), "unknown");
  EXPECT_EQ(print(of_field(Layout::kBool, "0", "1", 1)[0]), "unknown");
}

TEST(ArrowStatistics, FieldMetadataOfRealsIsBits) {
  const auto bits = [](float value) { return std::to_string(std::bit_cast<int32_t>(value)); };
  EXPECT_EQ(print(of_field(Layout::kFloat32, bits(-1.5f), bits(2.25f), 1)[0]), "-1.500000..2.250000");
  const auto wide = [](double value) { return std::to_string(std::bit_cast<uint64_t>(value)); };
  EXPECT_EQ(print(of_field(Layout::kFloat64, wide(-1.5), wide(2.25), 1)[0]), "-1.500000..2.250000");
  EXPECT_EQ(print(of_field(Layout::kFloat32, bits(-1.5f), bits(__builtin_nanf("")), 1)[0]), "unknown");
  EXPECT_EQ(print(of_field(Layout::kFloat32, "0", "99999999999", 1)[0]), "unknown");
}

TEST(ArrowStatistics, OutOfTheTypesRange) {
  EXPECT_EQ(print(of_field(Layout::kInt8, "-128", "127", 1)[0]), "-128..127");
  EXPECT_EQ(print(of_field(Layout::kInt8, "-129", "127", 1)[0]), "unknown");
  EXPECT_EQ(print(of_field(Layout::kUInt32, "-1", "5", 1)[0]), "unknown");
  EXPECT_EQ(print(of_field(Layout::kUInt32, "1", "4294967295", 1)[0]), "1..4294967295");
  EXPECT_EQ(print(of_field(Layout::kInt64, "1", "9223372036854775808", 1)[0]), "unknown");
  EXPECT_EQ(print(of_field(Layout::kInt32, "2", "1", 1)[0]), "unknown");
  EXPECT_EQ(print(of_field(Layout::kDecimal128, "1", std::string(39, '9'), 1)[0]), "unknown");
}

TEST(ArrowStatistics, BatchMetadata) {
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kInt32), "-1,5")), "-1..5");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kDecimal128, 2), "-1.5,2.25")), "-150..225");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kDecimal128, 2), ".5,7.")), "50..700");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kDecimal128, 2), "1.2500,2.2500")), "125..225");
  for (const char* odd : {"", ",", "1", "1,", ",1", "1,2,3", "a,b", "1 ,2", "0x1,2", "--1,2", "1.5,2"})
    EXPECT_EQ(print(batch_bounds(field_of(Layout::kInt32), odd)), "unknown") << odd;
  for (const char* odd : {"1.255,2", "1e3,2e3", "1..2,3", "-,1"})
    EXPECT_EQ(print(batch_bounds(field_of(Layout::kDecimal128, 2), odd)), "unknown") << odd;
}

TEST(ArrowStatistics, RealsAreRoundedOutwards) {
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kFloat64), "1.25,2.5")), "1.240000..2.600000");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kFloat64), "1,2e+03")), "0.000000..3000.000000");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kFloat64), "1.5e-1,2")), "0.140000..3.000000");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kFloat64), "-inf,inf")), "-inf..inf");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kFloat64), "nan,1")), "unknown");
}

TEST(ArrowStatistics, TextsAreCutByWriters) {
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kUtf8), "a,b")), "a..b*");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kLargeUtf8), "abc,ab")), "abc..ab*");  // "abd", cut
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kUtf8), "b,a")), "unknown");
  EXPECT_EQ(print(batch_bounds(field_of(Layout::kUtf8), "a,b,c")), "unknown");
}

}  // namespace
}  // namespace strom::test
