// Column builder: buffers have the layout of the Arrow columnar format.
#include "columnar/builder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "columnar/text.hpp"

namespace strom::columnar {
namespace {

Field field_of(Layout layout, int32_t byte_width = 0) {
  Field field;
  field.name = "c";
  field.layout = layout;
  field.byte_width = byte_width;
  return field;
}

std::string text(const ColumnView& view, int64_t row) {
  const char* bytes = nullptr;
  int64_t count = 0;
  EXPECT_TRUE(text_at(view, row, &bytes, &count));
  return std::string(bytes, static_cast<size_t>(count));
}

TEST(ColumnBuilder, FixedWidthWithoutNulls) {
  ColumnBuilder column(field_of(Layout::kInt64));
  for (int64_t i = 0; i < 100; ++i) column.append(i * i);
  const ColumnView view = column.view();
  EXPECT_EQ(view.length, 100);
  EXPECT_EQ(view.null_count, 0);
  EXPECT_EQ(view.validity, nullptr);
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(static_cast<const int64_t*>(view.values)[i], i * i);
  EXPECT_EQ(column.memory_bytes(), 800);
}

TEST(ByteBuffer, ManyBytesBeginAtAPageAndStay) {
  std::vector<ByteBuffer> buffers(3);
  constexpr int64_t kWords = 300'000;
  for (int64_t i = 0; i < kWords; ++i)
    for (ByteBuffer& buffer : buffers) buffer.push(i);  // the allocations grow in turns, so they move
  for (const ByteBuffer& buffer : buffers) {
    ASSERT_EQ(buffer.size(), kWords * 8);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 4096, 0u);
    for (int64_t i = 0; i < kWords; ++i) ASSERT_EQ(buffer.as<int64_t>()[i], i);
  }
}

TEST(ColumnBuilder, FirstNullComesAtAnyRow) {
  for (int64_t first = 0; first < 20; ++first) {
    ColumnBuilder column(field_of(Layout::kInt16));
    for (int64_t row = 0; row < 40; ++row) {
      if (row == first || row == first + 3) {
        column.append_null();
      } else {
        column.append(static_cast<int16_t>(row));
      }
    }
    const ColumnView view = column.view();
    EXPECT_EQ(view.null_count, 2);
    ASSERT_NE(view.validity, nullptr);
    for (int64_t row = 0; row < 40; ++row) {
      const bool is_null = row == first || row == first + 3;
      EXPECT_EQ(is_valid(view, row), !is_null) << first << " " << row;
      EXPECT_EQ(static_cast<const int16_t*>(view.values)[row], is_null ? 0 : row);
    }
    EXPECT_EQ(view.validity[4], 0xFF);  // rows 32 to 39
  }
}

TEST(ColumnBuilder, BoolsAreBits) {
  ColumnBuilder column(field_of(Layout::kBool));
  for (int row = 0; row < 21; ++row) {
    if (row % 5 == 4) {
      column.append_null();
    } else {
      column.append_bool(row % 3 == 0);
    }
  }
  const ColumnView view = column.view();
  const auto* bits = static_cast<const uint8_t*>(view.values);
  for (int row = 0; row < 21; ++row) {
    EXPECT_EQ(is_valid(view, row), row % 5 != 4);
    EXPECT_EQ((bits[row / 8] >> (row % 8)) & 1, row % 5 != 4 && row % 3 == 0) << row;
  }
  EXPECT_EQ(column.memory_bytes(), 3 + 3);
}

TEST(ColumnBuilder, Text) {
  for (const Layout layout : {Layout::kUtf8, Layout::kLargeUtf8}) {
    ColumnBuilder column(field_of(layout));
    EXPECT_TRUE(column.append_bytes("one"));
    EXPECT_TRUE(column.append_bytes(""));
    column.append_null();
    EXPECT_TRUE(column.append_bytes("four"));
    const ColumnView view = column.view();
    EXPECT_EQ(text(view, 0), "one");
    EXPECT_EQ(text(view, 1), "");
    EXPECT_FALSE(is_valid(view, 2));
    EXPECT_EQ(text(view, 3), "four");
    EXPECT_EQ(view.data_size, 7);
  }
}

TEST(ColumnBuilder, EmptyTextColumnHasItsFirstOffset) {
  ColumnBuilder column(field_of(Layout::kUtf8));
  int32_t offset = -1;
  std::memcpy(&offset, column.view().values, sizeof(offset));
  EXPECT_EQ(offset, 0);
}

TEST(ColumnBuilder, TextOver2GiBIsRefused) {
  ColumnBuilder column(field_of(Layout::kUtf8));
  const std::string half(size_t{1} << 30, 'x');
  EXPECT_TRUE(column.append_bytes(half));
  EXPECT_FALSE(column.append_bytes(half));
  EXPECT_TRUE(column.append_bytes(std::string_view(half).substr(1)));
  EXPECT_FALSE(column.append_bytes("x"));
  EXPECT_TRUE(column.append_bytes(""));
  EXPECT_EQ(column.length(), 3);
  EXPECT_EQ(static_cast<const int32_t*>(column.view().values)[3], 2147483647);
}

TEST(ColumnBuilder, FixedBinaryIsPaddedWithSpaces) {
  ColumnBuilder column(field_of(Layout::kFixedBinary, 5));
  EXPECT_TRUE(column.append_bytes("ab"));
  EXPECT_TRUE(column.append_bytes("abcde"));
  EXPECT_FALSE(column.append_bytes("abcdef"));
  column.append_null();
  EXPECT_EQ(column.length(), 3);
  EXPECT_EQ(text(column.view(), 0), "ab   ");
  EXPECT_EQ(text(column.view(), 1), "abcde");
  EXPECT_FALSE(is_valid(column.view(), 2));
}

TEST(ColumnBuilder, DecimalIsSixteenBytes) {
  ColumnBuilder column(field_of(Layout::kDecimal128));
  column.append(static_cast<__int128>(-5));
  column.append_null();
  EXPECT_EQ(column.memory_bytes(), 32 + 1);
  __int128 value = 0;
  std::memcpy(&value, column.view().values, sizeof(value));
  EXPECT_TRUE(value == -5);
}

TEST(ColumnBuilder, ClearStartsAnew) {
  ColumnBuilder column(field_of(Layout::kUtf8));
  column.append_null();
  EXPECT_TRUE(column.append_bytes("abc"));
  column.clear();
  EXPECT_EQ(column.length(), 0);
  EXPECT_TRUE(column.append_bytes("z"));
  const ColumnView view = column.view();
  EXPECT_EQ(view.length, 1);
  EXPECT_EQ(view.null_count, 0);
  EXPECT_EQ(view.validity, nullptr);
  EXPECT_EQ(text(view, 0), "z");
}

}  // namespace
}  // namespace strom::columnar
