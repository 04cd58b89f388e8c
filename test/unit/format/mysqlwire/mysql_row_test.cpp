// Rows of MySQL's binary protocol: what cannot be had from a server that works.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "format/mysqlwire/row_decoder.hpp"

namespace strom::format::mysqlwire {
namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

/// A column of each kind.
class MysqlRow : public testing::Test {
 protected:
  MysqlRow() {
    add(Wire::kFixed, Layout::kInt32, 4);
    add(Wire::kText, Layout::kUtf8);
    add(Wire::kDecimal, Layout::kDecimal128);
    add(Wire::kDateTime, Layout::kTimestamp);
    add(Wire::kTime, Layout::kTime64);
    add(Wire::kGeometry, Layout::kBinary);
    add(Wire::kBit, Layout::kUInt64);
    for (const Field& field : fields_) columns_.emplace_back(field);
  }
  void add(Wire wire, Layout layout, int width = 0) {
    Field& field = fields_.emplace_back();
    field.name = "c" + std::to_string(fields_.size());
    field.layout = layout;
    field.precision = 10;
    field.scale = 2;
    WireColumn& column = wires_.emplace_back();
    column.wire = wire;
    column.width = width;
    column.is_sized = width == 0;
  }
  Status append(const std::string& bytes) {
    for (ColumnBuilder& column : columns_) column.clear();
    RowDecoder decoder(wires_, &columns_);
    return decoder.append(reinterpret_cast<const uint8_t*>(bytes.data()), static_cast<int64_t>(bytes.size()));
  }

  std::vector<Field> fields_;
  std::vector<WireColumn> wires_;
  std::vector<ColumnBuilder> columns_;
};

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(value);
  return out;
}

std::string whole_row() {
  return bytes({0, 0, 0}) + bytes({1, 2, 3, 4}) + "\x02hi" + "\x04-1.5" + bytes({4, 0xE8, 7, 2, 29}) +
         bytes({8, 0, 0, 0, 0, 0, 23, 59, 59}) + bytes({9, 0, 0, 0, 0, 1, 1, 0, 0, 0}) + bytes({2, 1, 0xFF});
}

TEST_F(MysqlRow, Whole) {
  ASSERT_TRUE(append(whole_row()).is_ok());
  EXPECT_EQ(columns_[0].values().as<int32_t>()[0], 0x04030201);
  EXPECT_EQ(columns_[2].values().as<__int128>()[0], -150);
  EXPECT_EQ(columns_[3].values().as<int64_t>()[0], 1709164800000000);
  EXPECT_EQ(columns_[4].values().as<int64_t>()[0], 86399000000);
  EXPECT_EQ(columns_[5].data().size(), 5);
  EXPECT_EQ(columns_[6].values().as<uint64_t>()[0], 0x1FF);
}

TEST_F(MysqlRow, CutAnywhere) {
  const std::string row = whole_row();
  for (size_t size = 0; size < row.size(); ++size) EXPECT_FALSE(append(row.substr(0, size)).is_ok()) << size;
  EXPECT_FALSE(append(row + "x").is_ok());
}

TEST_F(MysqlRow, DamagedAnywhere) {
  std::mt19937 random(7);
  for (int turn = 0; turn < 20000; ++turn) {
    std::string row = whole_row();
    for (int i = 0; i < 3; ++i) row[random() % row.size()] = static_cast<char>(random());
    (void)append(row);
  }
}

TEST_F(MysqlRow, Lengths) {
  const std::string nulls = bytes({0, 0xF0, 1});  // all but the second column
  EXPECT_TRUE(append(nulls + bytes({1, 2, 3, 4}) + bytes({0xFC, 2, 0}) + "hi").is_ok());
  EXPECT_TRUE(append(nulls + bytes({1, 2, 3, 4}) + bytes({0xFD, 2, 0, 0}) + "hi").is_ok());
  EXPECT_TRUE(append(nulls + bytes({1, 2, 3, 4}) + bytes({0xFE, 2, 0, 0, 0, 0, 0, 0, 0}) + "hi").is_ok());
  for (const int first : {0xFB, 0xFF, 0xFE, 0xFC})
    EXPECT_FALSE(
        append(nulls + bytes({1, 2, 3, 4}) + bytes({first, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF})).is_ok());
}

}  // namespace
}  // namespace strom::format::mysqlwire
