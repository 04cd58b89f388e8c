// The decoder of COPY's binary format: values, cuts at every byte, damage.
#include "format/pgwire/copy_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "format/pgwire/numeric.hpp"

namespace strom::format::pgwire {
namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

std::string word(int64_t value, int bytes) {
  std::string out;
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFF);
  return out;
}
std::string value(const std::string& bytes) { return word(static_cast<int64_t>(bytes.size()), 4) + bytes; }
const std::string kNull = word(-1, 4);
const std::string kStart = std::string("PGCOPY\n\377\r\n\0", 11) + word(0, 4) + word(0, 4);
const std::string kEnd = word(-1, 2);

std::string numeric(const std::vector<int>& digits, int weight, int sign, int scale) {
  std::string out = word(static_cast<int64_t>(digits.size()), 2) + word(weight, 2) + word(sign, 2) + word(scale, 2);
  for (const int digit : digits) out += word(digit, 2);
  return out;
}

/// Columns of every wire format that nests or that has rules of its own.
struct Table {
  std::vector<Field> fields;
  std::vector<WireColumn> wires;
  std::vector<ColumnBuilder> columns;

  Table() {
    const auto add = [this](Wire wire, Layout layout) {
      Field& field = fields.emplace_back();
      field.name = "c" + std::to_string(fields.size());
      field.layout = layout;
      wires.emplace_back().wire = wire;
    };
    add(Wire::kInt, Layout::kInt32);
    add(Wire::kText, Layout::kUtf8);
    wires.back().check_utf8 = true;
    add(Wire::kDecimal, Layout::kDecimal128);
    fields.back().precision = 10;
    fields.back().scale = 2;
    add(Wire::kArray, Layout::kList);
    fields.back().children.push_back(fields[0]);
    wires.back().children.push_back(wires[0]);
    wires.back().children[0].oid = 23;
    add(Wire::kRecord, Layout::kStruct);
    fields.back().children = {fields[0], fields[3]};
    wires.back().children = {wires[0], wires[3]};
    add(Wire::kEnum, Layout::kUtf8);
    fields.back().dictionary = true;
    wires.back().labels = std::make_shared<columnar::Labels>(std::vector<std::string>{"a", "bc"});
    add(Wire::kBool, Layout::kBool);
    columns.reserve(fields.size());
    for (const Field& field : fields) columns.emplace_back(field);
  }
};

std::string array_of(const std::vector<int>& values) {
  std::string out = word(1, 4) + word(0, 4) + word(23, 4) + word(static_cast<int64_t>(values.size()), 4) + word(1, 4);
  for (const int item : values) out += value(word(item, 4));
  return out;
}

std::string full_row(int number) {
  const std::string list = array_of({number, number + 1});
  return word(7, 2) + value(word(number, 4)) + value("text " + std::to_string(number)) +
         value(numeric({1, 2345, 6700}, 1, number % 2 ? 0x4000 : 0, 2)) + value(list) +
         value(word(2, 4) + word(23, 4) + value(word(number, 4)) + word(1007, 4) + value(list)) + value("bc") +
         value(std::string(1, '\1'));
}
const std::string kNullRow = word(7, 2) + kNull + kNull + kNull + kNull + kNull + kNull + kNull;

Status decode(Table& table, const std::string& bytes, size_t piece) {
  CopyDecoder decoder(table.wires, &table.columns);
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const std::string part = bytes.substr(at, piece);
    STROM_TRY(decoder.feed(reinterpret_cast<const uint8_t*>(part.data()), static_cast<int64_t>(part.size())));
  }
  return decoder.finish();
}

TEST(CopyDecoder, RowsCutAnywhere) {
  std::string bytes = kStart;
  for (int i = 0; i < 20; ++i) bytes += i % 3 == 2 ? kNullRow : full_row(i);
  bytes += kEnd;
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{64}, size_t{1000}, bytes.size()}) {
    Table table;
    const Status status = decode(table, bytes, piece);
    ASSERT_TRUE(status.is_ok()) << status.message() << " " << status.detail();
    for (const ColumnBuilder& column : table.columns) {
      EXPECT_EQ(column.length(), 20);
      EXPECT_EQ(column.null_count(), 6);
    }
    EXPECT_EQ(table.columns[0].values().as<int32_t>()[19], 19);
    const auto* decimals = table.columns[2].values().as<__int128>();
    EXPECT_EQ(static_cast<int64_t>(decimals[0]), 1'2345'67);
    EXPECT_EQ(static_cast<int64_t>(decimals[1]), -1'2345'67);
    EXPECT_EQ(table.columns[3].child(0).length(), 28);
    EXPECT_EQ(table.columns[4].child(0).length(), 20);
    EXPECT_EQ(table.columns[4].child(1).child(0).length(), 28);
    EXPECT_EQ(table.columns[5].values().as<int32_t>()[0], 1);
  }
}

TEST(CopyDecoder, ValuesWhereTheyLie) {
  Field field;
  field.layout = columnar::Layout::kBinary;
  std::vector<ColumnBuilder> columns;
  columns.emplace_back(field);
  WireColumn wire;
  wire.wire = Wire::kBytes;
  CopyDecoder decoder({wire}, &columns);
  const auto take = [&](const std::string& bytes) {
    return decoder.take_value(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size()));
  };
  const auto feed = [&](const std::string& bytes) {
    return decoder.feed(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size()));
  };
  const std::string row = word(1, 2) + value("abc");
  EXPECT_FALSE(take(row));  // the header comes first
  ASSERT_TRUE(feed(kStart + row).is_ok());
  EXPECT_EQ(columns[0].length(), 1);
  const auto found = take(row);
  ASSERT_TRUE(found);
  EXPECT_EQ(std::string(found->begin(), found->end()), "abc");
  EXPECT_EQ(columns[0].length(), 1);
  EXPECT_EQ(decoder.rows(), 2);
  EXPECT_FALSE(take(row + row));
  EXPECT_FALSE(take(row.substr(0, row.size() - 1)));
  EXPECT_FALSE(take(word(1, 2) + kNull));
  EXPECT_FALSE(take(word(2, 2) + value("abc")));
  EXPECT_FALSE(take(kEnd));
  ASSERT_TRUE(feed(row.substr(0, 4)).is_ok());
  EXPECT_FALSE(take(row));  // in the middle of another one
  ASSERT_TRUE(feed(row.substr(4) + kEnd).is_ok());
  EXPECT_TRUE(decoder.finish().is_ok());
  EXPECT_EQ(decoder.rows(), 3);
}

TEST(CopyDecoder, NoRows) {
  Table table;
  EXPECT_TRUE(decode(table, kStart + kEnd, 5).is_ok());
  EXPECT_FALSE(decode(table, kStart, 5).is_ok());
  EXPECT_FALSE(decode(table, "", 5).is_ok());
  EXPECT_FALSE(decode(table, kStart + kEnd + "x", 100).is_ok());
}

TEST(CopyDecoder, RefusedValues) {
  const auto message = [](size_t column, const std::string& bytes) {
    std::string row = word(7, 2);
    for (size_t i = 0; i < 7; ++i) row += i == column ? value(bytes) : kNull;
    Table table;
    const Status status = decode(table, kStart + row + kEnd, 1000);
    return status.is_ok() ? "fine" : status.message();
  };
  EXPECT_EQ(message(0, word(1, 8)), "unexpected bytes from the server in row 1, column \"c1\"");
  EXPECT_EQ(message(1, "\xff"), "text that is not valid UTF-8 in row 1, column \"c2\"");
  EXPECT_NE(message(2, numeric({}, 0, 0xC000, 0)).find("NaN or infinity"), std::string::npos);
  EXPECT_NE(message(2, numeric({1}, 2, 0, 0)).find("too many digits"), std::string::npos);
  EXPECT_EQ(message(2, numeric({9999, 9999}, 1, 0, 0)), "fine");
  EXPECT_NE(message(2, numeric({1}, -1, 0, 4)).find("more decimal places"), std::string::npos);
  EXPECT_NE(message(2, numeric({10000}, 0, 0, 0)).find("unexpected bytes"), std::string::npos);
  EXPECT_EQ(message(2, numeric({}, 0, 0, 0)), "fine");
  EXPECT_NE(message(3, word(2, 4) + word(0, 4) + word(23, 4)).find("several dimensions"), std::string::npos);
  EXPECT_NE(message(3, word(1, 4) + word(0, 4) + word(20, 4)).find("unexpected bytes"), std::string::npos);
  EXPECT_NE(message(5, "b").find("enum label"), std::string::npos);
}

TEST(CopyDecoder, DamagedBytes) {
  std::string good = kStart;
  for (int i = 0; i < 5; ++i) good += full_row(i);
  good += kEnd;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (unsigned flips = random() % 4 + 1; flips > 0; --flips) {
      bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    Table table;
    (void)decode(table, bytes, random() % 50 + 1);  // an error or rows, and no access outside of the bytes
  }
}

TEST(CopyDecoder, KeysAreReportedAndNotStored) {
  Field field;
  std::vector<ColumnBuilder> columns;
  columns.emplace_back(field);
  CopyDecoder decoder({WireColumn{Wire::kInt}}, &columns);
  std::vector<std::pair<int64_t, std::string>> changes;
  decoder.set_key(1, [&](const auto& values) {
    changes.emplace_back(columns[0].length(), values[0].value_or("null"));
    return Status::ok();
  });
  std::string bytes = kStart;
  for (const char* key : {"a", "a", "b", "", "null"}) {
    bytes += word(2, 2) + value(word(1, 4)) + (std::string(key) == "null" ? kNull : value(key));
  }
  ASSERT_TRUE(
      decoder.feed(reinterpret_cast<const uint8_t*>((bytes + kEnd).data()), static_cast<int64_t>(bytes.size() + 2))
          .is_ok());
  using Changes = std::vector<std::pair<int64_t, std::string>>;
  EXPECT_EQ(changes, (Changes{{0, "a"}, {2, "b"}, {3, ""}, {4, "null"}}));
  EXPECT_EQ(columns[0].length(), 5);
}

TEST(Numeric, Text) {
  const auto text = [](const std::string& bytes) {
    NumericView number;
    EXPECT_TRUE(
        read_numeric(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size()), number));
    std::string out;
    numeric_to_text(number, out);
    return out;
  };
  EXPECT_EQ(text(numeric({}, 0, 0, 0)), "0");
  EXPECT_EQ(text(numeric({}, 0, 0, 3)), "0.000");
  EXPECT_EQ(text(numeric({1}, 2, 0, 0)), "100000000");
  EXPECT_EQ(text(numeric({12, 3400}, 0, 0x4000, 2)), "-12.34");
  EXPECT_EQ(text(numeric({5}, -2, 0, 8)), "0.00000005");
  EXPECT_EQ(text(numeric({1, 1}, 0, 0, 6)), "1.000100");
  EXPECT_EQ(text(numeric({}, 0, 0xF000, 0)), "-Infinity");
}

TEST(Numeric, DecimalsOfEveryWidth) {
  // 10^weight with every scale that leaves it exact, and one digit more than fits.
  for (int power = 0; power < 76; ++power) {
    std::vector<int> digits = {1};
    for (int i = 0; i < power % 4; ++i) digits[0] *= 10;
    const std::string bytes = numeric(digits, power / 4, 0, 0);
    NumericView number;
    ASSERT_TRUE(
        read_numeric(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size()), number));
    uint8_t out[32];
    const int digits_needed = power + 1;
    if (digits_needed <= 38) {
      EXPECT_EQ(numeric_to_decimal(number, digits_needed, 0, 128, out), DecimalOutcome::kExact);
    }
    EXPECT_EQ(numeric_to_decimal(number, digits_needed, 0, 256, out), DecimalOutcome::kExact) << power;
    if (power == 0 || power == 75) continue;
    EXPECT_EQ(numeric_to_decimal(number, power, 0, 256, out), DecimalOutcome::kTooLarge) << power;
    EXPECT_EQ(numeric_to_decimal(number, digits_needed, 1, 256, out), DecimalOutcome::kTooLarge) << power;
  }
}

}  // namespace
}  // namespace strom::format::pgwire
