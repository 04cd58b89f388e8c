// Rows as text: values as PostgreSQL prints them, quoting of each style, extremes, texts of all lengths.
#include <gtest/gtest.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>

#include "../arrow/arrow_samples.hpp"
#include "base/utf8.hpp"
#include "format/csv/datetime_text.hpp"
#include "format/csv/number_text.hpp"
#include "format/csv/row_text.hpp"

namespace strom::test {
namespace {

using base::int128;
using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using format::csv::RowText;
using format::csv::Style;
using format::csv::TextBuffer;
using format::csv::TextOptions;

template <class Put, class... Args>
std::string text_of(Put put, Args... args) {
  char text[256];
  return std::string(text, static_cast<size_t>(put(text, args...) - text));
}

std::string decimal(int128 unscaled, int scale) { return text_of(format::csv::put_decimal, unscaled, scale); }
std::string float8(double value) { return text_of(format::csv::put_float<double>, value); }
std::string float4(float value) { return text_of(format::csv::put_float<float>, value); }
std::string date(int64_t days) { return text_of(format::csv::put_date, days); }

TEST(NumberText, Integers) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = static_cast<int64_t>(random() >> (random() % 64)) * (random() & 1 ? 1 : -1);
    ASSERT_EQ(text_of(format::csv::put_int64, value), std::to_string(value));
    const auto narrow = static_cast<int32_t>(value);
    ASSERT_EQ(text_of(format::csv::put_int32, narrow), std::to_string(narrow));
  }
  for (const int64_t value : {INT64_MIN, INT64_MAX, int64_t{0}, int64_t{-1}, int64_t{99'999'999}, int64_t{100'000'000},
                              int64_t{9'999'999'999'999'999}, int64_t{10'000'000'000'000'000}}) {
    EXPECT_EQ(text_of(format::csv::put_int64, value), std::to_string(value));
  }
  EXPECT_EQ(text_of(format::csv::put_uint64, UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(text_of(format::csv::put_int32, INT32_MIN), "-2147483648");
}

TEST(NumberText, Decimals) {
  EXPECT_EQ(decimal(0, 0), "0");
  EXPECT_EQ(decimal(0, 2), "0.00");
  EXPECT_EQ(decimal(-5, 2), "-0.05");
  EXPECT_EQ(decimal(12345, 2), "123.45");
  EXPECT_EQ(decimal(-12345, -2), "-1234500");
  EXPECT_EQ(decimal(0, -2), "0");
  EXPECT_EQ(decimal(9'999'999'999'999'999, 15), "9.999999999999999");
  EXPECT_EQ(decimal(10'000'000'000'000'000, 15), "10.000000000000000");
  EXPECT_EQ(decimal(1, 38), "0.00000000000000000000000000000000000001");
  const int128 largest = base::power_of_ten(38) - 1;
  EXPECT_EQ(decimal(largest, 0), std::string(38, '9'));
  EXPECT_EQ(decimal(-largest, 38), "-0." + std::string(38, '9'));
  EXPECT_EQ(decimal(largest, 4), std::string(34, '9') + ".9999");
  EXPECT_EQ(decimal(7, 127), "0." + std::string(126, '0') + "7");
  EXPECT_EQ(decimal(static_cast<int128>(static_cast<base::uint128>(1) << 127), 0),
            "-170141183460469231731687303715884105728");
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {  // against the digits of an integer
    const auto value = static_cast<int64_t>(random() >> (random() % 63 + 1));
    const int scale = static_cast<int>(random() % 20) + 1;
    std::string digits = std::to_string(value);
    if (digits.size() <= static_cast<size_t>(scale))
      digits.insert(0, static_cast<size_t>(scale) + 1 - digits.size(), '0');
    digits.insert(digits.size() - static_cast<size_t>(scale), ".");
    ASSERT_EQ(decimal(value, scale), digits);
    ASSERT_EQ(decimal(-int128{value}, scale), (value == 0 ? "" : "-") + digits);
  }
}

TEST(NumberText, FloatsAsPostgresPrintsThem) {
  EXPECT_EQ(float8(0), "0");
  EXPECT_EQ(float8(-0.0), "-0");
  EXPECT_EQ(float8(1), "1");
  EXPECT_EQ(float8(-1.5), "-1.5");
  EXPECT_EQ(float8(0.1), "0.1");
  EXPECT_EQ(float8(0.05), "0.05");
  EXPECT_EQ(float8(0.0001), "0.0001");
  EXPECT_EQ(float8(0.00001), "1e-05");
  EXPECT_EQ(float8(123456789012345), "123456789012345");
  EXPECT_EQ(float8(999999999999999), "999999999999999");
  EXPECT_EQ(float8(1e15), "1e+15");
  EXPECT_EQ(float8(1234567890123456), "1.234567890123456e+15");
  EXPECT_EQ(float8(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(float8(1e300), "1e+300");
  EXPECT_EQ(float8(5e-324), "5e-324");
  EXPECT_EQ(float8(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
  EXPECT_EQ(float8(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(float8(-std::numeric_limits<double>::infinity()), "-Infinity");
  EXPECT_EQ(float8(std::nan("")), "NaN");
  EXPECT_EQ(float4(0.1F), "0.1");
  EXPECT_EQ(float4(999999.0F), "999999");
  EXPECT_EQ(float4(1e6F), "1e+06");
  EXPECT_EQ(float4(1234567.0F), "1.234567e+06");
  EXPECT_EQ(float4(16777216.0F), "1.6777216e+07");
  EXPECT_EQ(float4(3.4028235e38F), "3.4028235e+38");
  EXPECT_EQ(float4(1e-45F), "1e-45");
}

template <class Float>
void expect_shortest(Float value) {
  char text[256];
  char* end = format::csv::put_float<Float>(text, value);
  Float read = 0;
  ASSERT_EQ(std::from_chars(text, end, read).ptr, end);
  ASSERT_EQ(read, value);
  const auto digits = [](const char* from, const char* to) {
    std::string kept;
    for (; from != to && *from != 'e'; ++from)
      if (*from >= '0' && *from <= '9' && !(kept.empty() && *from == '0')) kept += *from;
    while (!kept.empty() && kept.back() == '0') kept.pop_back();
    return kept;
  };
  char shortest[64];
  const char* shortest_end = std::to_chars(shortest, shortest + 64, value, std::chars_format::scientific).ptr;
  const auto size = digits(text, end).size(), shortest_size = digits(shortest, shortest_end).size();
  ASSERT_LE(size, static_cast<size_t>(std::numeric_limits<Float>::max_digits10));
  // From here on, a shorter number can lie just between two floats, which PostgreSQL does not take.
  if (std::fabs(value) < 1e6) {
    ASSERT_EQ(size, shortest_size) << std::string(text, static_cast<size_t>(end - text));
  }
}

TEST(NumberText, FloatsReadBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 200'000; ++i) {
    const auto any = std::bit_cast<double>(random());
    if (std::isfinite(any)) expect_shortest(any);
    const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isfinite(narrow)) expect_shortest(narrow);
    expect_shortest(static_cast<double>(static_cast<int64_t>(random() % 2'000'000'000'000) - 1'000'000'000'000) / 100);
    expect_shortest(static_cast<float>(static_cast<int64_t>(random() % 20'000'000)) / 100);
    expect_shortest(static_cast<double>(random() % 1'000'000) / 10'000);
  }
}

TEST(DatetimeText, Dates) {
  using namespace std::chrono;
  for (sys_days day = year{1} / 1 / 1; day < year{10'001} / 1 / 1; day += days{11}) {
    const year_month_day civil = day;
    char expected[32];
    snprintf(expected, sizeof(expected), "%04d-%02u-%02u", static_cast<int>(civil.year()),
             static_cast<unsigned>(civil.month()), static_cast<unsigned>(civil.day()));
    ASSERT_EQ(date(day.time_since_epoch().count()), expected);
  }
  EXPECT_EQ(date(0), "1970-01-01");
  EXPECT_EQ(date(-719'163), "0001-12-31 BC");
  EXPECT_EQ(date(-719'528), "0001-01-01 BC");
  EXPECT_EQ(date(-719'529), "0002-12-31 BC");
  EXPECT_EQ(date(-2'440'588), "4714-11-24 BC");  // the first that PostgreSQL knows
  EXPECT_EQ(date(2'145'042'905), "5874897-12-31");
  EXPECT_EQ(text_of(format::csv::put_date_of_millis, int64_t{-1}), "1969-12-31");
}

template <int kDigits>
std::string timestamp(int64_t value, const char* zone = "") {
  return text_of(
      [zone](char* out, int64_t v) {
        return format::csv::put_timestamp<kDigits>(out, v, ' ', zone, static_cast<int64_t>(strlen(zone)));
      },
      value);
}

TEST(DatetimeText, Timestamps) {
  EXPECT_EQ(timestamp<0>(-1), "1969-12-31 23:59:59");
  EXPECT_EQ(timestamp<3>(1'500), "1970-01-01 00:00:01.5");
  EXPECT_EQ(timestamp<6>(-1), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(timestamp<6>(951'827'696'000'100), "2000-02-29 12:34:56.0001");
  EXPECT_EQ(timestamp<9>(123'456'789), "1970-01-01 00:00:00.123456789");
  EXPECT_EQ(timestamp<6>(0, "+00"), "1970-01-01 00:00:00+00");
  EXPECT_EQ(timestamp<6>(-62'135'596'800'000'001, "+00"), "0001-12-31 23:59:59.999999+00 BC");
  EXPECT_EQ(timestamp<6>(-210'866'803'200'000'000), "4714-11-24 00:00:00 BC");
  EXPECT_EQ(timestamp<6>(INT64_MAX), "294247-01-10 04:00:54.775807");
  EXPECT_EQ(timestamp<9>(INT64_MIN), "1677-09-21 00:12:43.145224192");
  EXPECT_EQ(timestamp<0>(INT64_MIN).substr(0, 5), "29227");
}

TEST(Utf8, AcceptsWhatPostgresAccepts) {
  const auto prefix = [](std::string text) {
    return base::valid_utf8_prefix(text.data(), static_cast<int64_t>(text.size()));
  };
  EXPECT_EQ(prefix("plain text, more than eight bytes"), 33);
  EXPECT_EQ(prefix("\u00e4\u20ac\U0001F600"), 9);
  EXPECT_EQ(prefix(std::string("abcdefg\0hijklmno", 16)), 7);
  for (const char* bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_EQ(prefix(std::string("abcdefgh") + bad), 8) << bad;
  }
}

Field field_of(std::string name, Layout layout) {
  Field field;
  field.name = std::move(name);
  field.layout = layout;
  return field;
}

/// Rows of text columns; nullptr is a null.
std::string rows_as(const std::vector<std::vector<const char*>>& rows, const TextOptions& options,
                    Layout layout = Layout::kUtf8) {
  std::vector<Field> fields;
  std::vector<ColumnBuilder> columns;
  for (size_t i = 0; i < rows[0].size(); ++i) {
    fields.push_back(field_of(std::string("c") + static_cast<char>('0' + i), layout));
    columns.emplace_back(fields.back());
    for (const auto& row : rows) {
      if (row[i] == nullptr) {
        columns.back().append_null();
      } else {
        columns.back().append_bytes(row[i]);
      }
    }
  }
  const auto text = RowText::create(fields, options);
  EXPECT_TRUE(text.is_ok()) << text.status().message();
  TextBuffer out;
  EXPECT_TRUE(text.value()->append_rows(view_of(columns), 0, static_cast<int64_t>(rows.size()), out).is_ok());
  return text.value()->header() + std::string(out.view());
}

TEST(RowText, CsvQuotesAsCopyDoes) {
  EXPECT_EQ(
      rows_as({{"a", "b"}, {"", nullptr}, {"x,y", "say \"hi\""}, {"line\nbreak", "cr\r"}, {" blank ", "\\."}}, {}),
      "c0,c1\na,b\n\"\",\n\"x,y\",\"say \"\"hi\"\"\"\n\"line\nbreak\",\"cr\r\"\n blank ,\\.\n");
  EXPECT_EQ(rows_as({{"\\."}, {nullptr}, {""}}, {}), "c0\n\"\\.\"\n\n\"\"\n");
  TextOptions options;
  options.null_text = "NULL";
  options.delimiter = ';';
  options.quote = '\'';
  EXPECT_EQ(rows_as({{"NULL", ""}, {nullptr, "it's"}, {"a,b", "c;d"}}, options),
            "c0;c1\n'NULL';\nNULL;'it''s'\na,b;'c;d'\n");
  options = {};
  options.quote_all = true;
  EXPECT_EQ(rows_as({{"a", nullptr}}, options), "\"c0\",\"c1\"\n\"a\",\n");
}

TEST(RowText, TsvIsCopysTextFormat) {
  TextOptions options;
  options.style = Style::kTsv;
  options.delimiter = '\t';
  options.null_text = "\\N";
  EXPECT_EQ(rows_as({{"a\tb", nullptr}, {"back\\slash", "\b\f\n\r\v"}, {"", "\\N"}}, options),
            "c0\tc1\na\\tb\t\\N\nback\\\\slash\t\\b\\f\\n\\r\\v\n\t\\\\N\n");
}

TEST(RowText, JsonAndMarkdown) {
  TextOptions options;
  options.style = Style::kJsonLines;
  EXPECT_EQ(rows_as({{"a", nullptr}, {"q\"b\\s/", "\n\x01\t"}}, options),
            "{\"c0\":\"a\",\"c1\":null}\n{\"c0\":\"q\\\"b\\\\s/\",\"c1\":\"\\n\\u0001\\t\"}\n");
  options.style = Style::kMarkdown;
  EXPECT_EQ(rows_as({{"a|b", nullptr}, {"two\r\nlines", "x"}}, options),
            "| c0 | c1 |\n|---|---|\n| a\\|b |  |\n| two<br>lines | x |\n");
}

TEST(RowText, ValuesThatLookLikeTheNullAreQuoted) {
  std::vector<Field> fields = {field_of("i", Layout::kInt32), field_of("b", Layout::kBool)};
  std::vector<ColumnBuilder> columns(fields.begin(), fields.end());
  for (const int value : {-1, 7}) {
    columns[0].append(int32_t{value});
    columns[1].append_bool(value > 0);
  }
  columns[0].append_null();
  columns[1].append_null();
  TextOptions options;
  options.null_text = "-1";
  TextBuffer out;
  ASSERT_TRUE(RowText::create(fields, options).value()->append_rows(view_of(columns), 0, 3, out).is_ok());
  EXPECT_EQ(out.view(), "\"-1\",f\n7,t\n-1,-1\n");
  out.clear();
  options.quote_all = true;
  ASSERT_TRUE(RowText::create(fields, options).value()->append_rows(view_of(columns), 1, 3, out).is_ok());
  EXPECT_EQ(out.view(), "\"7\",\"t\"\n-1,-1\n");
}

TEST(RowText, BinaryByItsType) {
  const auto written = [](int width, const char* type, bool hex, const std::string& bytes, Style style) {
    Field field = field_of("x", Layout::kFixedBinary);
    field.byte_width = width;
    if (type != nullptr) field.metadata = {{"pg_type", type}};
    ColumnBuilder column(field);
    column.append_bytes(bytes);
    TextOptions options;
    options.style = style;
    if (style == Style::kTsv) options.delimiter = '\t';
    options.binary_hex = hex;
    TextBuffer out;
    const Status status = RowText::create({field}, options).value()->append_rows({1, {column.view()}}, 0, 1, out);
    return status.is_ok() ? std::string(out.view()) : status.message() + "\n";
  };
  const std::string sixteen("\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff", 16);
  EXPECT_EQ(written(16, "pg_catalog.uuid", false, sixteen, Style::kCsv), "00112233-4455-6677-8899-aabbccddeeff\n");
  EXPECT_EQ(written(16, "uuid", false, sixteen, Style::kJsonLines),
            "{\"x\":\"00112233-4455-6677-8899-aabbccddeeff\"}\n");
  EXPECT_EQ(written(4, "inet", false, std::string("\x0a\x00\x00\xff", 4), Style::kCsv), "10.0.0.255\n");
  EXPECT_EQ(written(6, "pg_catalog.macaddr", false, "\x08\x01\x2b\x01\x02\x03", Style::kCsv), "08:01:2b:01:02:03\n");
  const std::string tid("\x00\x01\x00\x02\x03\x04", 6);
  EXPECT_EQ(written(6, "pg_catalog.tid", false, tid, Style::kCsv), "\"(65538,772)\"\n");
  EXPECT_EQ(written(6, "pg_catalog.tid", false, tid, Style::kTsv), "(65538,772)\n");
  EXPECT_EQ(written(6, "pg_catalog.tid", false, tid, Style::kJsonLines), "{\"x\":\"(65538,772)\"}\n");
  EXPECT_EQ(written(6, "pg_catalog.tid", false, std::string(6, '\xff'), Style::kTsv), "(4294967295,65535)\n");
  EXPECT_EQ(written(4, nullptr, true, "\xde\xad\xbe\xef", Style::kCsv), "\\xdeadbeef\n");
  EXPECT_EQ(written(4, nullptr, false, "ab", Style::kCsv), "ab  \n");
  EXPECT_EQ(written(4, nullptr, false, "\xde\xad\xbe\xef", Style::kCsv), "column \"x\" holds bytes that are no text\n");
}

TEST(RowText, PositionsInTheLog) {
  const auto written = [](const char* type, uint64_t number, Style style) {
    Field field = field_of("x", Layout::kUInt64);
    field.metadata = {{"pg_type", type}};
    ColumnBuilder column(field);
    column.append(number);
    TextOptions options;
    options.style = style;
    TextBuffer out;
    EXPECT_TRUE(RowText::create({field}, options).value()->append_rows({1, {column.view()}}, 0, 1, out).is_ok());
    return std::string(out.view());
  };
  EXPECT_EQ(written("pg_catalog.pg_lsn", 0x16B374D848, Style::kCsv), "16/B374D848\n");
  EXPECT_EQ(written("pg_catalog.pg_lsn", UINT64_MAX, Style::kJsonLines), "{\"x\":\"FFFFFFFF/FFFFFFFF\"}\n");
  EXPECT_EQ(written("pg_catalog.pg_lsn", 0, Style::kTsv), "0/0\n");
  EXPECT_EQ(written("pg_catalog.xid8", UINT64_MAX, Style::kJsonLines), "{\"x\":18446744073709551615}\n");
}

TEST(RowText, TextsOfAllLengths) {
  for (const Layout layout : {Layout::kUtf8, Layout::kLargeUtf8}) {
    const Field field = field_of("t", layout);
    std::vector<ColumnBuilder> columns;
    columns.reserve(2);
    for (int i = 0; i < 2; ++i) columns.emplace_back(field);
    std::mt19937_64 random(5);
    std::string expected;
    const auto length = [&](int row) -> size_t { return row % 97 == 0 ? random() % 200'000 : random() % 40; };
    for (int row = 0; row < 3'000; ++row) {
      for (ColumnBuilder& column : columns) {
        if (random() % 9 == 0) {
          column.append_null();
        } else {
          std::string text(length(row), 'x');
          const bool special = random() % 50 == 0 && !text.empty();
          if (special) text[random() % text.size()] = ',';
          column.append_bytes(text);
          expected += special || text.empty() ? '"' + text + '"' : text;
        }
        expected += &column == &columns.back() ? '\n' : ',';
      }
    }
    TextBuffer out;
    const auto text = RowText::create({field, field}, {}).value();
    ASSERT_TRUE(text->append_rows(view_of(columns), 0, 1'111, out).is_ok());
    ASSERT_TRUE(text->append_rows(view_of(columns), 1'111, 3'000, out).is_ok());
    EXPECT_TRUE(out.view() == expected);
  }
}

TEST(RowText, EveryLayoutWithAndWithoutNulls) {
  const columnar::Schema schema = sample_schema();
  for (const Nulls nulls : {Nulls::kNone, Nulls::kSome, Nulls::kAll}) {
    for (const Style style : {Style::kCsv, Style::kTsv, Style::kJsonLines, Style::kMarkdown}) {
      const auto columns = sample_columns(schema, 1'500, nulls, 7);
      TextOptions options;
      options.style = style;
      TextBuffer whole, parts;
      const auto text = RowText::create(schema.fields, options).value();
      ASSERT_TRUE(text->append_rows(view_of(columns), 0, 1'500, whole).is_ok());
      for (int64_t row = 0; row < 1'500; ++row)
        ASSERT_TRUE(text->append_rows(view_of(columns), row, row + 1, parts).is_ok());
      EXPECT_TRUE(whole.view() == parts.view());
      EXPECT_EQ(std::count(whole.view().begin(), whole.view().end(), '\n'), 1'500);
    }
  }
}

TEST(RowText, RefusesWhatCannotBeRead) {
  TextOptions options;
  options.delimiter = '7';
  EXPECT_EQ(RowText::create({}, options).status().code(), ErrorCode::kInvalidParameter);
  options.delimiter = '"';
  EXPECT_EQ(RowText::create({}, options).status().code(), ErrorCode::kInvalidParameter);
  options = {};
  options.null_text = "a,b";
  EXPECT_EQ(RowText::create({}, options).status().code(), ErrorCode::kInvalidParameter);

  const int32_t offsets[] = {0, 3, 100, 3};
  columnar::ColumnView view;
  view.layout = Layout::kUtf8;
  view.length = 3;
  view.values = offsets;
  view.data = "abc";
  view.data_size = 3;
  TextBuffer out;
  const auto text = RowText::create({field_of("t", Layout::kUtf8)}, {}).value();
  EXPECT_TRUE(text->append_rows({3, {view}}, 0, 1, out).is_ok());
  EXPECT_EQ(text->append_rows({3, {view}}, 0, 3, out).code(), ErrorCode::kCorruptFile);
}

}  // namespace
}  // namespace strom::test
