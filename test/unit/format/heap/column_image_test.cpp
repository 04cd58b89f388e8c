// Images of columns: random parts with and without nulls against the values that they were made of, and what is not to
// be kept.
#include "format/heap/column_image.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "columnar/text.hpp"

namespace strom::format::heap {
namespace {

using base::int128;
using columnar::Layout;
using registry::StrView;

/// A stored numeric, value * 10^-4, with two bytes before it as there always are.
std::string stored(int128 value) {
  std::vector<uint16_t> digits;
  auto magnitude = static_cast<unsigned __int128>(value < 0 ? -value : value);
  for (; magnitude > 0; magnitude /= 10000) digits.insert(digits.begin(), static_cast<uint16_t>(magnitude % 10000));
  const int weight = static_cast<int>(digits.size()) - 2;
  digits.insert(digits.begin(), static_cast<uint16_t>(0x8000 | (value < 0 ? 0x2000 : 0) | 4 << 7 | (weight & 0x7F)));
  return std::string(2, '\0') + std::string(reinterpret_cast<const char*>(digits.data()), digits.size() * 2);
}

/// What a decoder gives for one column.
struct Decoded {
  std::vector<std::string> bytes;
  std::vector<StrView> views;
  std::vector<uint8_t> values, flags;

  ColumnOut out() {
    void* data = values.empty() ? static_cast<void*>(views.data()) : values.data();
    return {data, flags.data(), !flags.empty(), false};
  }
  void add_view(std::string text, bool is_null) {
    bytes.push_back(std::move(text));
    flags.push_back(is_null ? kNullValue : 0);
  }
  void make_views(size_t skipped) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      const std::string& text = bytes[i];
      views.push_back(flags[i] != 0 ? StrView{nullptr, 0}
                                    : StrView{text.data() + skipped, static_cast<int64_t>(text.size() - skipped)});
    }
    if (std::all_of(flags.begin(), flags.end(), [](uint8_t flag) { return flag == 0; })) flags.clear();
  }
};

/// The parts' image in memory of its own.
struct Image {
  explicit Image(const std::vector<ColumnPart>& parts) : writer(pointers(parts)) {
    memory.resize(static_cast<size_t>(image_bytes(writer.shape()) + kImageAlignment), 0xEE);
    auto address = reinterpret_cast<uintptr_t>(memory.data());
    start = memory.data() + (kImageAlignment - address % kImageAlignment) % kImageAlignment;
    writer.write(start);
    view = view_image(writer.shape(), start);
  }
  static std::vector<const ColumnPart*> pointers(const std::vector<ColumnPart>& parts) {
    std::vector<const ColumnPart*> result;
    result.reserve(parts.size());
    for (const auto& part : parts) result.push_back(&part);
    return result;
  }
  bool is_null(int64_t row) const {
    return view.is_register ? view.flags != nullptr && view.flags[row] != 0 : !columnar::is_valid(view, row);
  }
  template <class T>
  T value(int64_t row) const {
    return static_cast<const T*>(view.values)[row];
  }

  ImageWriter writer;
  std::vector<uint8_t> memory;
  uint8_t* start;
  columnar::ColumnView view;
};

class ColumnImage : public testing::TestWithParam<int> {
 protected:
  std::mt19937_64 random_{static_cast<uint64_t>(GetParam())};
  bool some_nulls(size_t part) const { return (static_cast<size_t>(GetParam()) >> part & 1) != 0; }
  size_t rows() { return random_() % 300; }
  bool is_null(size_t part) { return some_nulls(part) && random_() % 3 == 0; }
};

constexpr size_t kParts = 3;

TEST_P(ColumnImage, Integers) {
  std::vector<ColumnPart> parts(kParts);
  std::vector<int32_t> values;
  std::vector<bool> nulls;
  for (size_t p = 0; p < kParts; ++p) {
    Decoded decoded;
    const size_t count = rows();
    decoded.values.resize(count * 4 + 4);
    for (size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<int32_t>(random_()));
      std::memcpy(decoded.values.data() + i * 4, &values.back(), 4);
      nulls.push_back(is_null(p));
      if (some_nulls(p)) decoded.flags.push_back(nulls.back() ? kNullValue : 0);
    }
    ASSERT_TRUE(parts[p].take({0, Storage::kWord4}, 0, decoded.out(), static_cast<int64_t>(count)));
  }
  const Image image(parts);
  ASSERT_EQ(image.view.length, static_cast<int64_t>(values.size()));
  ASSERT_TRUE(image.view.is_register);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(image.is_null(static_cast<int64_t>(i)), nulls[i]);
    ASSERT_EQ(image.value<int32_t>(static_cast<int64_t>(i)), values[i]);
  }
}

TEST_P(ColumnImage, Numerics) {
  // Each part as wide as its values: the image is as wide as the widest.
  const int widest = GetParam() % 3;
  std::vector<ColumnPart> parts(kParts);
  std::vector<int128> values;
  std::vector<bool> nulls;
  for (size_t p = 0; p < kParts; ++p) {
    Decoded decoded;
    const size_t count = rows() + 1;
    for (size_t i = 0; i < count; ++i) {
      int128 value = static_cast<int64_t>(random_() % 2'000'000) - 1'000'000;
      if (static_cast<int>(p) == widest && i == 0)
        value *= widest == 0 ? 1 : widest == 1 ? 1'000'000'000 : int128{1} << 80;
      nulls.push_back(i > 0 && is_null(p));
      values.push_back(nulls.back() ? 0 : value);
      decoded.add_view(stored(value), nulls.back());
    }
    decoded.make_views(2);
    ASSERT_TRUE(parts[p].take({0, Storage::kNumeric}, 4, decoded.out(), static_cast<int64_t>(count)));
  }
  const Image image(parts);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    ASSERT_EQ(image.is_null(row), nulls[i]);
    const int128 found = image.view.is_register                    ? image.value<int128>(row)
                         : image.view.layout == Layout::kDecimal64 ? image.value<int64_t>(row)
                                                                   : image.value<int32_t>(row);
    ASSERT_TRUE(nulls[i] || found == values[i]) << i;
  }
  EXPECT_EQ(image.view.is_register, widest == 2);
}

TEST_P(ColumnImage, Texts) {
  std::vector<ColumnPart> parts(kParts);
  std::vector<std::string> values;
  std::vector<bool> nulls;
  for (size_t p = 0; p < kParts; ++p) {
    Decoded decoded;
    const size_t count = rows();
    for (size_t i = 0; i < count; ++i) {
      nulls.push_back(is_null(p));
      values.push_back(std::string(random_() % 40, static_cast<char>(random_())));
      decoded.add_view(values.back(), nulls.back());
    }
    decoded.make_views(0);
    ASSERT_TRUE(parts[p].take({0, Storage::kText}, 0, decoded.out(), static_cast<int64_t>(count)));
  }
  const Image image(parts);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    ASSERT_EQ(image.is_null(row), nulls[i]);
    const char* bytes;
    int64_t length;
    ASSERT_TRUE(columnar::text_at(image.view, row, &bytes, &length));
    ASSERT_EQ(std::string(bytes, static_cast<size_t>(length)), nulls[i] ? "" : values[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Random, ColumnImage, testing::Range(0, 24));

TEST(ColumnImageRefuses, ValuesOfPostgresAlone) {
  for (const uint8_t flag : {kValueOfHost, kPackedValue}) {
    std::vector<int32_t> values(3);
    std::vector<uint8_t> flags = {0, kNullValue, flag};
    ColumnPart part;
    EXPECT_FALSE(part.take({0, Storage::kWord4}, 0, {values.data(), flags.data(), true}, 3));
    EXPECT_TRUE(part.take({0, Storage::kWord4}, 0, {values.data(), flags.data(), true}, 2));
  }
}

TEST(ColumnImageRefuses, NumericsWithoutAPlace) {
  const uint16_t nan = 0xC000;
  std::string text = std::string(2, '\0') + std::string(reinterpret_cast<const char*>(&nan), 2);
  StrView view{text.data() + 2, 2};
  ColumnPart part;
  EXPECT_FALSE(part.take({0, Storage::kNumeric}, 2, {&view, nullptr, false}, 1));
  text = stored(12345);  // 1.2345 at scale 2
  view = {text.data() + 2, static_cast<int64_t>(text.size()) - 2};
  EXPECT_FALSE(part.take({0, Storage::kNumeric}, 2, {&view, nullptr, false}, 1));
}

TEST(ColumnImageRefuses, LargeTexts) {
  const std::string text(5 << 20, 'x');
  const StrView views[] = {{text.data(), 5 << 20}, {text.data(), 5 << 20}};
  ColumnPart part;
  EXPECT_FALSE(part.take({0, Storage::kText}, 0, {const_cast<StrView*>(views), nullptr, false}, 2));
}

TEST(RowPlaces, FindsRows) {
  for (const bool dense : {true, false}) {
    RowPlaces made;
    const uint16_t numbers[] = {1, 2, 3, 4, static_cast<uint16_t>(dense ? 5 : 7)};
    made.add_page(numbers, 5);
    made.add_page(nullptr, 0);
    made.add_page(nullptr, 0);
    made.add_page(numbers, 2);
    made.add_page(nullptr, 0);
    std::vector<uint64_t> memory(static_cast<size_t>(made.bytes()) / 8 + 1);
    auto* places = reinterpret_cast<uint8_t*>(memory.data());
    made.write(places);
    EXPECT_EQ(RowPlaces::rows(places), 7);
    EXPECT_EQ(RowPlaces::pages(places), 5);
    int64_t tids[7];
    RowPlaces::write_tids(places, 100, tids);
    const auto expect = [&](int64_t row, uint32_t page, uint16_t item) {
      EXPECT_EQ(RowPlaces::find(places, row).page, page);
      EXPECT_EQ(RowPlaces::find(places, row).item, item);
      EXPECT_EQ(tids[row], (int64_t{100} + page) << 16 | item);
    };
    expect(0, 0, 1);
    expect(4, 0, numbers[4]);
    expect(5, 3, 1);
    expect(6, 3, 2);
  }
}

}  // namespace
}  // namespace strom::format::heap
