// text_at() on good and hostile offsets and views.
#include "columnar/text.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace strom::columnar {
namespace {

constexpr char kData[] = "0123456789";

template <class Offset>
ColumnView offset_column(Layout layout, const std::vector<Offset>& offsets) {
  ColumnView view;
  view.layout = layout;
  view.length = static_cast<int64_t>(offsets.size()) - 1;
  view.values = offsets.data();
  view.data = kData;
  view.data_size = 10;
  return view;
}

std::string text(const ColumnView& view, int64_t row = 0) {
  const char* bytes = nullptr;
  int64_t count = -1;
  return text_at(view, row, &bytes, &count) ? std::string(bytes, static_cast<size_t>(count)) : "<invalid>";
}

template <class Offset>
void check_offsets(Layout layout) {
  const Offset max = std::numeric_limits<Offset>::max(), min = std::numeric_limits<Offset>::min();
  const auto one = [&](Offset begin, Offset end) {
    return text(offset_column<Offset>(layout, std::vector<Offset>{begin, end}));
  };
  EXPECT_EQ(one(0, 10), "0123456789");
  EXPECT_EQ(one(3, 5), "34");
  EXPECT_EQ(one(10, 10), "");
  for (const auto& [begin, end] : std::vector<std::pair<Offset, Offset>>{
           {0, 11}, {-1, 5}, {5, 4}, {11, 11}, {min, max}, {max, min}, {0, max}, {min, 0}, {max, max}}) {
    EXPECT_EQ(one(begin, end), "<invalid>") << begin << " " << end;
  }
}

TEST(TextAt, Offsets32) { check_offsets<int32_t>(Layout::kUtf8); }
TEST(TextAt, Offsets64) { check_offsets<int64_t>(Layout::kLargeUtf8); }

TEST(TextAt, Views) {
  const char* buffers[2] = {"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRST"};
  const int64_t sizes[2] = {26, 20};
  const auto one = [&](int32_t length, int32_t buffer, int32_t offset) {
    int32_t words[4] = {length, 0, buffer, offset};
    std::memcpy(&words[1], "wxyz", 4);
    ColumnView view;
    view.layout = Layout::kUtf8View;
    view.length = 1;
    view.values = words;
    view.variadic = buffers;
    view.variadic_sizes = sizes;
    view.variadic_count = 2;
    return text(view);
  };
  EXPECT_EQ(one(4, -1, -1), "wxyz");
  EXPECT_EQ(one(0, 0, 0), "");
  EXPECT_EQ(one(13, 0, 0), "abcdefghijklm");
  EXPECT_EQ(one(20, 1, 0), "ABCDEFGHIJKLMNOPQRST");
  EXPECT_EQ(one(13, 0, 13), "nopqrstuvwxyz");
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max(), kMin = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(one(13, 0, 14), "<invalid>");
  EXPECT_EQ(one(13, 2, 0), "<invalid>");
  EXPECT_EQ(one(13, -1, 0), "<invalid>");
  EXPECT_EQ(one(13, 0, -1), "<invalid>");
  EXPECT_EQ(one(-1, 0, 0), "<invalid>");
  EXPECT_EQ(one(kMin, 0, 0), "<invalid>");
  EXPECT_EQ(one(kMax, 0, kMax), "<invalid>");
  EXPECT_EQ(one(13, kMax, 0), "<invalid>");
  EXPECT_EQ(one(13, 0, kMin), "<invalid>");
}

TEST(TextAt, FixedBinaryAndOthers) {
  ColumnView view;
  view.layout = Layout::kFixedBinary;
  view.byte_width = 3;
  view.length = 3;
  view.values = kData;
  EXPECT_EQ(text(view, 0), "012");
  EXPECT_EQ(text(view, 2), "678");
  view.layout = Layout::kInt32;
  EXPECT_EQ(text(view), "<invalid>");
}

}  // namespace
}  // namespace strom::columnar
