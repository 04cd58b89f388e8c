// Lowest and highest values of columns, and what the metadata says of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "arrow_samples.hpp"
#include "format/arrow/statistics/text_extremes.hpp"
#include "format/arrow/statistics/value_range.hpp"

namespace strom::test {
namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using format::arrow::covers;
using format::arrow::stated_ranges;
using format::arrow::value_range;
using format::arrow::ValueRange;

Field field_of(Layout layout) {
  Field field;
  field.name = "c";
  field.layout = layout;
  field.precision = 38;
  return field;
}

template <class T>
ValueRange range_of(Layout layout, std::initializer_list<T> values) {
  ColumnBuilder column(field_of(layout));
  for (const T value : values) column.append(value);
  return value_range(column.view());
}

TEST(ValueRange, ValuesAreWrittenAsTheyAreStored) {
  EXPECT_EQ(range_of<int8_t>(Layout::kInt8, {5, -128, 127}), (ValueRange{"-128", "127"}));
  EXPECT_EQ(range_of<uint8_t>(Layout::kUInt8, {5, 255}), (ValueRange{"5", "255"}));
  EXPECT_EQ(range_of<int16_t>(Layout::kInt16, {INT16_MIN, INT16_MAX}), (ValueRange{"-32768", "32767"}));
  EXPECT_EQ(range_of<uint32_t>(Layout::kUInt32, {UINT32_MAX, 7}), (ValueRange{"7", "4294967295"}));
  EXPECT_EQ(range_of<int64_t>(Layout::kInt64, {INT64_MAX, INT64_MIN}),
            (ValueRange{"-9223372036854775808", "9223372036854775807"}));
  EXPECT_EQ(range_of<int32_t>(Layout::kDate32, {19000, -1}), (ValueRange{"-1", "19000"}));
  EXPECT_EQ(range_of<__int128>(Layout::kDecimal128, {__int128{1} << 100, -5}),
            (ValueRange{"-5", "1267650600228229401496703205376"}));
  EXPECT_EQ(range_of<float>(Layout::kFloat32, {1.0F, -2.0F}), (ValueRange{"-1073741824", "1065353216"}));
  EXPECT_EQ(range_of<double>(Layout::kFloat64, {1.5, 0.0}), (ValueRange{"0", "4609434218613702656"}));
}

TEST(ValueRange, NullsAndNotANumber) {
  ColumnBuilder column(field_of(Layout::kInt32));
  EXPECT_EQ(value_range(column.view()), ValueRange());
  column.append_null();
  EXPECT_EQ(value_range(column.view()), ValueRange());
  column.append(int32_t{3});
  EXPECT_EQ(value_range(column.view()), (ValueRange{"3", "3"}));
  EXPECT_EQ(range_of<double>(Layout::kFloat64, {1.0, std::nan(""), 2.0}), ValueRange());
  EXPECT_EQ(range_of<float>(Layout::kFloat32, {std::nanf(""), 2.0F}), ValueRange());
  EXPECT_FALSE(format::arrow::has_value_range(Layout::kBool));
}

TEST(ValueRange, AnyPatternOfNulls) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 500; ++round) {
    ColumnBuilder column(field_of(Layout::kInt64));
    const auto rows = static_cast<int64_t>(random() % 300);
    const uint64_t share = random() % 100;
    int64_t low = std::numeric_limits<int64_t>::max(), high = std::numeric_limits<int64_t>::min();
    for (int64_t row = 0; row < rows; ++row) {
      if (random() % 100 < share) {
        column.append_null();
      } else {
        const auto value = static_cast<int64_t>(random() % 1'000'000);
        column.append(value);
        low = std::min(low, value);
        high = std::max(high, value);
      }
    }
    const ValueRange expected = low > high ? ValueRange() : ValueRange{std::to_string(low), std::to_string(high)};
    ASSERT_EQ(value_range(column.view()), expected);
  }
}

TEST(ValueRange, MetadataOfAField) {
  Field field = field_of(Layout::kInt32);
  field.metadata = {{"pg_type", "int4"}, {"min_values", "old"}, {"max_values", "old"}};
  EXPECT_TRUE(stated_ranges(field, 2).empty());
  field.metadata = format::arrow::with_ranges(field.metadata, {{"1", "2"}, {}});
  EXPECT_EQ(field.metadata,
            (columnar::KeyValues{{"pg_type", "int4"}, {"min_values", "1,null"}, {"max_values", "2,null"}}));
  EXPECT_EQ(stated_ranges(field, 2), (std::vector<ValueRange>{{"1", "2"}, {}}));
  EXPECT_TRUE(stated_ranges(field, 3).empty());
  EXPECT_EQ(format::arrow::with_ranges(field.metadata, {}), (columnar::KeyValues{{"pg_type", "int4"}}));
}

TEST(ValueRange, Covers) {
  const ValueRange actual{"-5", "10"};
  EXPECT_TRUE(covers(Layout::kInt32, {"-5", "10"}, actual));
  EXPECT_TRUE(covers(Layout::kInt32, {"-6", "11"}, actual));
  EXPECT_TRUE(covers(Layout::kInt32, {}, actual));
  EXPECT_FALSE(covers(Layout::kInt32, {"-4", "10"}, actual));
  EXPECT_FALSE(covers(Layout::kInt32, {"-5", "9"}, actual));
  EXPECT_FALSE(covers(Layout::kInt32, {"x", "10"}, actual));
  EXPECT_TRUE(covers(Layout::kInt32, {"1", "2"}, {}));
  const ValueRange real = range_of<double>(Layout::kFloat64, {-1.0, 1.0});
  EXPECT_TRUE(covers(Layout::kFloat64, range_of<double>(Layout::kFloat64, {-2.0, 1.5}), real));
  EXPECT_FALSE(covers(Layout::kFloat64, range_of<double>(Layout::kFloat64, {-0.5, 1.5}), real));
}

ValueRange range_of_texts(std::initializer_list<std::string_view> texts) {
  ColumnBuilder column(field_of(Layout::kUtf8));
  for (const std::string_view text : texts) column.append_bytes(text);
  return value_range(column.view());
}

TEST(ValueRange, Texts) {
  EXPECT_EQ(range_of_texts({"b", "a,c", "\"%"}), (ValueRange{"\"%22%25\"", "\"b\""}));
  EXPECT_EQ(range_of_texts({"null", ""}), (ValueRange{"\"\"", "\"null\""}));
  EXPECT_EQ(range_of_texts({}), ValueRange());
  const std::string tilde(format::arrow::kMostTextBytes, '~');
  EXPECT_EQ(range_of_texts({tilde}), (ValueRange{"\"" + tilde + "\"", "\"" + tilde + "\""}));
  EXPECT_EQ(range_of_texts({tilde + "x"}).high, "\"" + tilde.substr(1) + "%7F\"");
  EXPECT_EQ(range_of_texts({tilde + "x"}).low, "\"" + tilde + "\"");
  // Bytes that are no text: nothing so short orders behind them.
  EXPECT_EQ(range_of_texts({std::string(50, '\xFF')}), ValueRange());
  EXPECT_EQ(range_of_texts({"\x01" + std::string(50, '\xFF')}).high, "\"%02\"");
  const ValueRange actual = range_of_texts({"b", "d"});
  EXPECT_TRUE(covers(Layout::kUtf8, actual, actual));
  EXPECT_TRUE(covers(Layout::kUtf8, range_of_texts({"a", "dd"}), actual));
  EXPECT_FALSE(covers(Layout::kUtf8, range_of_texts({"c", "d"}), actual));
  EXPECT_FALSE(covers(Layout::kUtf8, {"a", "z"}, actual));
}

TEST(ValueRange, ExtremesOfRandomTexts) {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> texts(1 + random() % 6);
    const int letters = round % 3 == 0 ? 1 : round % 3 == 1 ? 2 : 256;
    for (std::string& text : texts) {
      text.resize(random() % 12);
      for (char& c : text) c = static_cast<char>(random() % letters);
    }
    format::arrow::TextExtremes found;
    for (const std::string& text : texts) found.add(text);
    ASSERT_EQ(found.low(), *std::min_element(texts.begin(), texts.end()));
    ASSERT_EQ(found.high(), *std::max_element(texts.begin(), texts.end()));
    // One behind the other, with and without bytes behind the last.
    std::string bytes;
    std::vector<int32_t> offsets = {0};
    for (const std::string& text : texts) offsets.push_back(static_cast<int32_t>((bytes += text).size()));
    const auto size = static_cast<int64_t>(bytes.size());
    bytes += "0123456789";
    for (const int64_t readable : {size, size + 10}) {
      format::arrow::TextExtremes all;
      all.add_all(bytes.data(), offsets.data(), static_cast<int64_t>(texts.size()), readable);
      ASSERT_EQ(all.low(), found.low());
      ASSERT_EQ(all.high(), found.high());
    }
  }
}

TEST(ValueRange, BoundsOfRandomTextsHold) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 80, 0);
    for (char& c : text) c = static_cast<char>(random() % 3 == 0 ? 0xFF : random());
    const auto low = format::arrow::parse_text_item(format::arrow::low_text_item(text));
    ASSERT_TRUE(low);
    ASSERT_LE(*low, text);
    const std::string item = format::arrow::high_text_item(text);
    EXPECT_EQ(item.find(','), std::string::npos);
    if (item == format::arrow::kNoValue) continue;
    const auto high = format::arrow::parse_text_item(item);
    ASSERT_TRUE(high);
    ASSERT_GE(*high, text);
  }
  for (const char* item : {"", "\"", "x", "\"x", "\"%\"", "\"%4\"", "\"%4g\"", "\"a\"b\"", "null"})
    EXPECT_FALSE(format::arrow::parse_text_item(item)) << item;
}

}  // namespace
}  // namespace strom::test
