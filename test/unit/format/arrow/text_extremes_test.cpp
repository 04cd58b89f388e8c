// The lowest and the highest of many texts: those that begin alike, in order, of one value, of any length.
#include "format/arrow/statistics/text_extremes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace strom::format::arrow {
namespace {

struct Texts {
  std::string bytes;
  std::vector<int64_t> offsets{0};
  std::vector<std::string> all;

  void add(const std::string& text) {
    all.push_back(text);
    bytes += text;
    offsets.push_back(static_cast<int64_t>(bytes.size()));
  }
};

template <class Offset>
void expect_extremes(const Texts& texts, size_t cut) {
  const std::vector<Offset> offsets(texts.offsets.begin(), texts.offsets.end());
  const auto size = static_cast<int64_t>(texts.bytes.size());
  const auto count = static_cast<int64_t>(texts.all.size()), first = static_cast<int64_t>(cut);
  TextExtremes by_offsets, one_by_one;
  by_offsets.add_all(texts.bytes.data(), offsets.data(), first, size);
  by_offsets.add_all(texts.bytes.data(), offsets.data() + first, count - first, size);
  for (const std::string& text : texts.all) one_by_one.add(text);
  const auto [low, high] = std::minmax_element(texts.all.begin(), texts.all.end());
  for (const TextExtremes* found : {&by_offsets, &one_by_one}) {
    ASSERT_TRUE(found->any());
    ASSERT_EQ(found->low(), *low);
    ASSERT_EQ(found->high(), *high);
  }
}

TEST(TextExtremes, OfNothing) {
  TextExtremes found;
  const int32_t offset = 0;
  found.add_all("", &offset, 0, 0);
  EXPECT_FALSE(found.any());
}

TEST(TextExtremes, OfTextsThatBeginAlike) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    Texts texts;
    const std::string prefix(random() % 30, 'x');
    const uint64_t letters = 1 + random() % 3;
    for (uint64_t i = 0, count = 1 + random() % 40; i < count; ++i) {
      std::string text = random() % 20 != 0 ? prefix : prefix.substr(0, random() % (prefix.size() + 1));
      for (uint64_t length = random() % 14; length > 0; --length)
        text += random() % letters == 0 ? 'a' : static_cast<char>(random());
      texts.add(text);
    }
    const size_t cut = random() % (texts.all.size() + 1);
    expect_extremes<int32_t>(texts, cut);
    expect_extremes<int64_t>(texts, cut);
  }
}

TEST(TextExtremes, OfTextsInOrder) {
  for (const bool descends : {false, true}) {
    Texts texts;
    for (int i = 0; i < 3000; ++i) {
      const std::string number = std::to_string(1'000'000 + (descends ? 3000 - i : i));
      texts.add("Customer#00" + number);
    }
    expect_extremes<int32_t>(texts, 100);
  }
}

TEST(TextExtremes, OfOneValueButForALateOne) {
  for (const char* late : {"Clerk#0000000", "Clerk#000000001", "Clerk#0000000010", "Clerk#00000000A", "A", ""}) {
    Texts texts;
    for (int i = 0; i < 500; ++i) texts.add("Clerk#000000001");
    texts.add(late);
    for (int i = 0; i < 20; ++i) texts.add("Clerk#000000001");
    expect_extremes<int32_t>(texts, 300);
  }
}

}  // namespace
}  // namespace strom::format::arrow
