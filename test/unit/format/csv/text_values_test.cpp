// Text of values and of rows: parse_value.hpp, row_reader.hpp.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/half.hpp"
#include "format/csv/append_value.hpp"
#include "format/csv/parse_value.hpp"
#include "format/csv/row_reader.hpp"

namespace strom::format::csv {
namespace {

using columnar::TimeUnit;

TEST(ParseValue, Integers) {
  int64_t value = 0;
  EXPECT_EQ(parse_integer("-128", 8, value), Parsed::kExact);
  EXPECT_EQ(value, -128);
  EXPECT_EQ(parse_integer("128", 8, value), Parsed::kTooLarge);
  EXPECT_EQ(parse_integer("9223372036854775808", 64, value), Parsed::kTooLarge);
  for (const char* text : {"", "-", "+", "+-1", "1 ", " 1", "1.0", "0x1"})
    EXPECT_EQ(parse_integer(text, 64, value), Parsed::kMalformed) << text;
  uint64_t number = 0;
  EXPECT_EQ(parse_unsigned("18446744073709551615", 64, number), Parsed::kExact);
  EXPECT_EQ(number, UINT64_MAX);
  EXPECT_EQ(parse_unsigned("-1", 64, number), Parsed::kTooLarge);
  EXPECT_EQ(parse_unsigned("-", 64, number), Parsed::kMalformed);
}

TEST(AppendValue, HalvesAreRoundedOnceAndStayFinite) {
  columnar::Field field;
  field.layout = columnar::Layout::kFloat16;
  columnar::ColumnBuilder column(field);
  EXPECT_EQ(append_value("2049.0000001", column), Appended::kDone);
  EXPECT_EQ(append_value("-2.99e-8", column), Appended::kDone);
  EXPECT_EQ(append_value("inf", column), Appended::kDone);
  EXPECT_EQ(append_value("65520", column), Appended::kTooLarge);
  EXPECT_EQ(append_value("1e-9", column), Appended::kTooLarge);
  EXPECT_EQ(append_value("1 ", column), Appended::kMalformed);
  const auto* halves = static_cast<const uint16_t*>(column.view().values);
  ASSERT_EQ(column.view().length, 3);
  EXPECT_EQ(base::half_to_float(halves[0]), 2050);
  EXPECT_EQ(halves[1], 0x8001);
  EXPECT_EQ(halves[2], 0x7c00);
}

__int128 decimal(std::string_view text, int32_t precision, int32_t scale) {
  __int128 value = 0;
  EXPECT_EQ(parse_decimal(text, precision, scale, 128, reinterpret_cast<uint8_t*>(&value)), Parsed::kExact) << text;
  return value;
}

TEST(ParseValue, Decimals) {
  EXPECT_EQ(decimal("-12.5", 5, 2), -1250);
  EXPECT_EQ(decimal(".5", 5, 2), 50);
  EXPECT_EQ(decimal("5.", 5, 2), 500);
  EXPECT_EQ(decimal("1.25e2", 5, 2), 12500);
  EXPECT_EQ(decimal("125e-2", 5, 2), 125);
  EXPECT_EQ(decimal("0e99999", 5, 2), 0);
  EXPECT_EQ(decimal("1.500000", 5, 2), 150);
  EXPECT_EQ(decimal("000999.99", 5, 2), 99999);
  uint8_t out[32];
  EXPECT_EQ(parse_decimal("1000", 5, 2, 128, out), Parsed::kTooLarge);
  EXPECT_EQ(parse_decimal("1e99999", 5, 2, 128, out), Parsed::kTooLarge);
  EXPECT_EQ(parse_decimal("0.001", 5, 2, 128, out), Parsed::kTooPrecise);
  for (const char* text : {"", ".", "-", "1e", "1..2", "1,5", "NaN", "--1"})
    EXPECT_EQ(parse_decimal(text, 5, 2, 128, out), Parsed::kMalformed) << text;
  // The short way and the long one, which an exponent asks for.
  for (const char* text : {"0", "-0", "1", "-1", "12.5", "-12.50", "0.01", ".5", "5.", "99999", "-999.99", "1000.00",
                           "00012.3", "123456789012345678", "12.345"}) {
    for (const int32_t bits : {128, 256}) {
      uint8_t other[32] = {}, one[32] = {};
      const Parsed expected = parse_decimal(std::string(text) + "e0", 5, 2, bits, other);
      ASSERT_EQ(parse_decimal(text, 5, 2, bits, one), expected) << text;
      EXPECT_TRUE(expected != Parsed::kExact || std::memcmp(one, other, static_cast<size_t>(bits / 8)) == 0) << text;
    }
  }
  // -1 and 10^76 - 1 in 256 bits.
  ASSERT_EQ(parse_decimal("-1", 76, 0, 256, out), Parsed::kExact);
  for (const uint8_t byte : out) EXPECT_EQ(byte, 0xFF);
  EXPECT_EQ(parse_decimal(std::string(76, '9'), 76, 0, 256, out), Parsed::kExact);
  EXPECT_EQ(parse_decimal(std::string(77, '9'), 76, 0, 256, out), Parsed::kTooLarge);
}

TEST(ParseValue, DatesAndTimes) {
  const auto days = [](int64_t year, uint32_t month, uint32_t day) {
    int64_t found = 0;
    return days_of(year, month, day, found) ? std::optional(found) : std::nullopt;
  };
  EXPECT_EQ(days(1970, 1, 1), 0);
  EXPECT_EQ(days(1969, 12, 31), -1);
  EXPECT_EQ(days(2000, 2, 29), 11016);
  EXPECT_EQ(days(0, 2, 29), -719469);
  EXPECT_EQ(days(-4712, 1, 1), -2440550);
  EXPECT_FALSE(days(1900, 2, 29));
  EXPECT_FALSE(days(2024, 0, 1));
  EXPECT_FALSE(days(2024, 13, 1));
  EXPECT_FALSE(days(2024, 1, 0));
  EXPECT_FALSE(days(2024, 4, 31));
  // Day after day, also where another way of counting begins.
  int64_t expected = *days(-1, 1, 1);
  for (const int64_t year : {-1, 0, 1, 2}) {
    for (uint32_t month = 1; month <= 12; ++month)
      for (uint32_t day = 1; days(year, month, day); ++day) ASSERT_EQ(*days(year, month, day), expected++);
  }
  EXPECT_EQ(*days(10000, 1, 1), *days(9999, 12, 31) + 1);
  // The same by text.
  for (const auto& [text, at] : {std::pair("0001-01-01", days(1, 1, 1)),
                                 {"2024-02-29", days(2024, 2, 29)},
                                 {"9999-12-31", days(9999, 12, 31)}}) {
    int64_t parsed = 0;
    EXPECT_EQ(parse_date(text, parsed), Parsed::kExact);
    EXPECT_EQ(parsed, at);
  }
  int64_t value = 0;
  EXPECT_EQ(parse_timestamp("1970-01-01 00:00:00.000001", TimeUnit::kMicro, false, value), Parsed::kExact);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(parse_timestamp("1970-01-01T01:00:00+01:30", TimeUnit::kSecond, true, value), Parsed::kExact);
  EXPECT_EQ(value, -1800);
  EXPECT_EQ(parse_timestamp("1970-01-01 00:00:00+01", TimeUnit::kSecond, false, value), Parsed::kMalformed);
  EXPECT_EQ(parse_timestamp("1970-01-01 00:00:00.1", TimeUnit::kSecond, false, value), Parsed::kTooPrecise);
  EXPECT_EQ(parse_timestamp("9999-01-01", TimeUnit::kNano, false, value), Parsed::kTooLarge);
  EXPECT_EQ(parse_time("24:00", TimeUnit::kSecond, value), Parsed::kTooLarge);
  for (const char* text : {"", "1:00", "01", "01:00:", "01:00:00.", "01:00x"})
    EXPECT_EQ(parse_time(text, TimeUnit::kSecond, value), Parsed::kMalformed) << text;
}

std::vector<std::vector<std::string>> rows_of(const Dialect& dialect, std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  RowReader reader(dialect, text);
  while (reader.next()) {
    auto& row = rows.emplace_back();
    for (const TextField& field : reader.fields()) row.push_back(field.is_null ? "NULL" : std::string(field.text));
  }
  return rows;
}

TEST(RowReader, Rows) {
  using Rows = std::vector<std::vector<std::string>>;
  const Dialect csv{',', '"', {""}}, tsv{'\t', 0, {"\\N"}};
  EXPECT_EQ(rows_of(csv, "a,\"b\"\"\n,\",\n\"\",c\r\n"), (Rows{{"a", "b\"\n,", "NULL"}, {"", "c"}}));
  EXPECT_EQ(rows_of(csv, "x\"y,\"z,w"), (Rows{{"xy,z", "w"}}));
  EXPECT_EQ(rows_of(csv, "a,"), (Rows{{"a", "NULL"}}));
  EXPECT_EQ(rows_of(csv, "\n\n"), (Rows{{"NULL"}, {"NULL"}}));
  EXPECT_EQ(rows_of(tsv, "a\\tb\t\\N\n\\\\N\t\\\n\n"), (Rows{{"a\tb", "NULL"}, {"\\N", "\n"}}));
  EXPECT_EQ(rows_of(tsv, "\\"), (Rows{{"\\"}}));
}

/// Wherever the text is cut, the pieces' rows are those of the whole.
TEST(RowReader, CutAnywhere) {
  const std::string quotes = "a,\"b\nc\"\n\"\"\"\n\",x\n\n,\"\"\nlast,\"row\"",
                    slashes = "a\\\nb\tc\n\\\\\n\\\\\\\nx\ty\nlast";
  for (const auto& [dialect, text] :
       {std::pair(Dialect{',', '"', {}}, quotes), std::pair(Dialect{'\t', 0, {}}, slashes)}) {
    const auto whole = rows_of(dialect, text);
    for (size_t at = 0; at <= text.size(); ++at) {
      const bool odd = std::count(text.begin(), text.begin() + static_cast<int64_t>(at), '"') % 2 == 1;
      const auto cut = static_cast<size_t>(next_row(dialect, text, static_cast<int64_t>(at), odd));
      ASSERT_GE(cut, at);
      auto rows = rows_of(dialect, std::string_view(text).substr(0, cut));
      for (auto& row : rows_of(dialect, std::string_view(text).substr(cut))) rows.push_back(row);
      EXPECT_EQ(rows, whole) << at;
    }
  }
}

/// Fields of all lengths, wherever they lie among the blocks that are looked at.
TEST(RowReader, FieldsOfAnyLength) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::vector<std::string>> rows(1 + random() % 5);
    std::string text;
    const char special = round % 2 == 0 ? '"' : '\\';
    for (auto& row : rows) {
      row.resize(1 + random() % 6);
      for (std::string& field : row) {
        field.assign(random() % (round % 7 == 0 ? 200 : 12), 'a');
        for (char& c : field) c = static_cast<char>(c + random() % 26);
        if (random() % 9 == 0) field += special;
        std::string written;
        for (const char c : field) written += c == special ? std::string(2, c) : std::string(1, c);
        if (special == '"' && written.size() != field.size()) written = '"' + written + '"';
        text += written + (&field == &row.back() ? '\n' : ',');
      }
    }
    if (random() % 2 == 0) text.pop_back();
    const Dialect dialect{',', special == '"' ? '"' : '\0', {}};
    RowReader reader(dialect, text);
    for (size_t i = 0; reader.next(); ++i) {
      ASSERT_LT(i, rows.size()) << text;
      ASSERT_EQ(reader.fields().size(), rows[i].size()) << text;
      for (size_t f = 0; f < rows[i].size(); ++f) ASSERT_EQ(reader.fields()[f].text, rows[i][f]) << text;
    }
    ASSERT_EQ(reader.position(), static_cast<int64_t>(text.size()));
  }
}

}  // namespace
}  // namespace strom::format::csv
