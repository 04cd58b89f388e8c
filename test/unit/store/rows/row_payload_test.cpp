// Rows' payloads: each row is found as it was, the sizes are those that the format promises, and no bytes are read
// outside of those that are given.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "store/region/format.hpp"
#include "store/rows/row_image.hpp"
#include "store/rows/row_payload.hpp"

namespace strom::store::rows {
namespace {

Column fixed(uint32_t width) { return {"f", "fixed", Form::kFixed, width}; }
Column view() { return {"v", "view", Form::kView, 0}; }

/// Bytes on the heap, so that sanitizers see what is read behind them.
struct Bytes {
  explicit Bytes(std::string_view from) : data(new char[from.size()]), size(from.size()) {
    std::copy(from.begin(), from.end(), data.get());
  }
  std::string_view view() const { return {data.get(), size}; }

  std::unique_ptr<char[]> data;
  size_t size;
};

/// A row for tests: nullptr is NULL.
std::vector<Cell> cells_of(const std::vector<const std::string*>& values) {
  std::vector<Cell> cells;
  for (const std::string* value : values) cells.push_back(value == nullptr ? Cell{} : cell_of(*value));
  return cells;
}

std::string payload_of(const Shape& shape, const std::vector<Cell>& cells, bool* has_nulls) {
  const PayloadSize size = payload_size(shape, cells);
  // The byte behind the payload stays as it is.
  std::string bytes(size.bytes + 1, '\x5A');
  write_payload(shape, cells, size.has_nulls, reinterpret_cast<uint8_t*>(bytes.data()));
  EXPECT_EQ(bytes.back(), '\x5A');
  bytes.pop_back();
  *has_nulls = size.has_nulls;
  return bytes;
}

bool is_same(const std::vector<Cell>& left, const std::vector<Cell>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const Cell& a, const Cell& b) {
    return a.is_null == b.is_null && (a.is_null || a.view() == b.view());
  });
}

Shape random_shape(std::mt19937_64& random) {
  Shape shape;
  shape.max_rows = 1;
  const size_t columns = 1 + random() % (random() % 8 == 0 ? 40 : 6);
  for (size_t i = 0; i < columns; ++i) shape.columns.push_back(random() % 2 == 0 ? view() : fixed(1 + random() % 17));
  shape.key = static_cast<int32_t>(random() % (columns + 1)) - 1;
  return shape;
}

std::vector<std::string> random_values(const Shape& shape, std::mt19937_64& random) {
  std::vector<std::string> values;
  for (const Column& column : shape.columns) {
    std::string value(column.form == Form::kFixed ? column.width : random() % (random() % 4 == 0 ? 300 : 20), '\0');
    for (char& byte : value) byte = static_cast<char>(random());
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<Cell> random_cells(const Shape& shape, const std::vector<std::string>& values, std::mt19937_64& random) {
  std::vector<Cell> cells;
  const uint64_t nulls = random() % 4;  // 0: none
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_null = nulls != 0 && random() % 4 < nulls && static_cast<int32_t>(i) != shape.key;
    cells.push_back(is_null ? Cell{} : cell_of(values[i]));
  }
  return cells;
}

std::string key_of(const Shape& shape, const std::vector<Cell>& cells) {
  return shape.key < 0 ? std::string() : std::string(cells[static_cast<size_t>(shape.key)].view());
}

TEST(RowPayload, RowsAreFoundAsTheyWere) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 20000; ++round) {
    const Shape shape = random_shape(random);
    const std::vector<std::string> values = random_values(shape, random);
    const std::vector<Cell> cells = random_cells(shape, values, random);
    bool has_nulls = false;
    const Bytes payload(payload_of(shape, cells, &has_nulls)), key(key_of(shape, cells));
    std::vector<Cell> found(cells.size());
    ASSERT_TRUE(parse_payload(shape, key.view(), payload.view(), has_nulls, found)) << round;
    ASSERT_TRUE(is_same(found, cells)) << round;
    // The same as by way of the image, which has all of it and is never shorter.
    std::string image;
    append_row(shape, cells, &image);
    ASSERT_LE(payload.size, image.size());
    std::string_view rest = image;
    ASSERT_TRUE(take_row(shape, &rest, found) && is_same(found, cells)) << round;
  }
}

TEST(RowPayload, ARowWithAKeyOf8BytesAndATextOf64TakesARecordOf80) {
  const Shape shape{{fixed(8), view()}, 0, 1};
  const std::string key(8, 'k'), text(64, 't');
  const std::vector<Cell> cells = cells_of({&key, &text});
  EXPECT_EQ(payload_size(shape, cells).bytes, 64u);
  EXPECT_EQ(region::record_bytes(8, 64), 80u);
  const std::vector<Cell> empty = cells_of({&key, nullptr});
  EXPECT_EQ(payload_size(shape, empty).bytes, 1u);
  EXPECT_TRUE(payload_size(shape, empty).has_nulls);
}

TEST(RowPayload, OnlyTheLastValueOfVariableLengthHasNoLength) {
  const std::string key = "key", one = "1", long_one(300, 'x'), four = "4444";
  const Shape shape{{view(), fixed(4), view(), view(), fixed(4)}, 2, 1};
  bool has_nulls = false;
  EXPECT_EQ(payload_of(shape, cells_of({&one, &four, &key, &long_one, &four}), &has_nulls),
            std::string("\1\0\0\0", 4) + one + four + long_one + four);
  EXPECT_FALSE(has_nulls);
  EXPECT_EQ(payload_of(shape, cells_of({&one, &four, &key, nullptr, &four}), &has_nulls),
            std::string("\x08") + one + four + four);
  EXPECT_TRUE(has_nulls);
  EXPECT_EQ(payload_of(shape, cells_of({nullptr, nullptr, &key, nullptr, &four}), &has_nulls),
            std::string("\x0B") + four);
}

TEST(RowPayload, TheLargestRowFitsIntoARecord) {
  // The limit of a row counts the values alone.
  static_assert(kMaxRowBytes + kPayloadOverhead <= region::kMaxPayload);
  Shape shape{{}, 0, 1};
  std::vector<std::string> values;
  for (uint32_t i = 0; i < kMaxColumns; ++i) {
    shape.columns.push_back(view());
    values.emplace_back(i + 1 == kMaxColumns ? kMaxRowBytes - kMaxColumns : i == 0 ? 2 : i == 1 ? 0 : 1, 'x');
  }
  ASSERT_TRUE(check_shape(shape).is_ok());
  std::vector<Cell> cells;
  uint64_t bytes = 0;
  for (const std::string& value : values) cells.push_back(cell_of(value)), bytes += value.size();
  cells[0] = cell_of("");
  for (const uint32_t nulls : {0U, 1U}) {
    if (nulls != 0) cells[1] = {};
    bool has_nulls = false;
    const std::string payload = payload_of(shape, cells, &has_nulls);
    EXPECT_GT(payload.size(), kMaxRowBytes);  // so 20 bits are too few
    EXPECT_LE(payload.size(), kMaxRowBytes + kPayloadOverhead);
    std::vector<Cell> found(cells.size());
    ASSERT_TRUE(parse_payload(shape, "", payload, has_nulls, found));
    EXPECT_TRUE(is_same(found, cells));
    const region::RecordHeader header{static_cast<uint32_t>(payload.size()) | (2000U << region::kPayloadBits), 0};
    EXPECT_EQ(region::payload_bytes(header), payload.size());
    EXPECT_EQ(region::key_bytes(header), 2000u);
  }
}

TEST(RowPayload, WhatIsCutOffOrTooLongIsNoRow) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 2000; ++round) {
    const Shape shape = random_shape(random);
    const std::vector<std::string> values = random_values(shape, random);
    const std::vector<Cell> cells = random_cells(shape, values, random);
    bool has_nulls = false;
    const std::string payload = payload_of(shape, cells, &has_nulls), key = key_of(shape, cells);
    bool has_view = false;
    for (size_t i = 0; i < cells.size(); ++i)
      has_view = has_view ||
                 (shape.columns[i].form == Form::kView && !cells[i].is_null && static_cast<int32_t>(i) != shape.key);
    std::vector<Cell> found(cells.size());
    for (size_t size = 0; size < payload.size(); ++size) {
      const Bytes part(payload.substr(0, size));
      const bool is_row = parse_payload(shape, key, part.view(), has_nulls, found);
      // A value without a length of its own may be shorter; then the row is another one.
      ASSERT_TRUE(!is_row || (has_view && !is_same(found, cells))) << round;
    }
    ASSERT_EQ(parse_payload(shape, key, payload + "x", has_nulls, found), has_view);
    if (shape.key < 0) continue;
    ASSERT_EQ(parse_payload(shape, key + "x", payload, has_nulls, found),
              shape.columns[static_cast<size_t>(shape.key)].form == Form::kView);
  }
}

TEST(RowPayload, BitsThatCannotBeAreNoRow) {
  const Shape shape{{fixed(4), view()}, 0, 1};
  std::vector<Cell> found(2);
  EXPECT_TRUE(parse_payload(shape, "keys", std::string_view("\2", 1), true, found));
  for (const char* bits : {"\1", "\3", "\4", "\6", "\x82"})
    EXPECT_FALSE(parse_payload(shape, "keys", std::string_view(bits, 1), true, found));
  EXPECT_FALSE(parse_payload(shape, "keys", std::string_view("\0", 1), true, found));
  EXPECT_FALSE(parse_payload(shape, "keys", "", true, found));
}

TEST(RowPayload, AnyBytesAreReadWithinTheirEnds) {
  std::mt19937_64 random(3);
  uint64_t rows = 0;
  for (int round = 0; round < 100000; ++round) {
    const Shape shape = random_shape(random);
    std::string some(random() % 60, '\0');
    // Small numbers are lengths that may be right.
    for (char& byte : some) byte = static_cast<char>(random() % (random() % 2 == 0 ? 256 : 3));
    const Bytes payload(some), key(std::string(random() % 18, 'k'));
    std::vector<Cell> found(shape.columns.size());
    if (!parse_payload(shape, key.view(), payload.view(), random() % 2 == 0, found)) continue;
    ++rows;
    for (size_t i = 0; i < found.size(); ++i) {
      if (found[i].is_null) continue;
      const Bytes& from = static_cast<int32_t>(i) == shape.key ? key : payload;
      const auto* data = static_cast<const char*>(found[i].data);
      ASSERT_TRUE(data >= from.data.get() && data + found[i].bytes <= from.data.get() + from.size);
    }
  }
  EXPECT_GT(rows, 100u);
}

}  // namespace
}  // namespace strom::store::rows
