// Free extents: none is given away twice, none overlaps another one, and memory of one size serves others.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "store/free_extents.hpp"

namespace strom::store {
namespace {

/// Memory from which extents are taken as the store does it.
class Memory {
 public:
  explicit Memory(uint64_t bytes, uint64_t boundary = 0) : words_(bytes / sizeof(uint64_t)), boundary_(boundary) {}

  ExtentLists lists() { return {&free_, reinterpret_cast<uint8_t*>(words_.data()), boundary_}; }
  uint64_t used() const { return used_; }
  const FreeExtents& free() const { return free_; }

  /// Fails the test if the extent overlaps one that is in use.
  uint64_t take(uint64_t bytes) {
    const uint32_t size_class = class_of(bytes);
    const uint64_t size = bytes_of_class(size_class);
    auto found = lists().take(size_class);
    if (!found.has_value() && lists().merge_if_worth_it(used_)) found = lists().take(size_class);
    if (!found.has_value()) {
      if (boundary_ != 0 && used_ / boundary_ != (used_ + size - 1) / boundary_)
        used_ = (used_ / boundary_ + 1) * boundary_;
      found = used_;
      used_ += size;
    }
    EXPECT_LE(used_, words_.size() * sizeof(uint64_t));
    if (boundary_ != 0) {
      EXPECT_EQ(*found / boundary_, (*found + size - 1) / boundary_);
    }
    const auto next = in_use_.lower_bound(*found);
    if (next != in_use_.end()) {
      EXPECT_GE(next->first, *found + size);
    }
    if (next != in_use_.begin()) {
      const auto before = std::prev(next);
      EXPECT_LE(before->first + before->second, *found);
    }
    for (uint64_t at = *found; at < *found + size; at += sizeof(uint64_t)) {
      EXPECT_EQ(words_[at / sizeof(uint64_t)], 0u);
      words_[at / sizeof(uint64_t)] = ~uint64_t{0};
    }
    in_use_[*found] = size;
    in_use_bytes_ += size;
    return *found;
  }

  void give(uint64_t offset) {
    const uint64_t size = in_use_.at(offset);
    for (uint64_t at = offset; at < offset + size; at += sizeof(uint64_t)) words_[at / sizeof(uint64_t)] = 0;
    in_use_.erase(offset);
    in_use_bytes_ -= size;
    lists().give(offset, class_of(size));
  }

  /// True if all bytes are in use or free, where no boundary makes gaps.
  bool is_whole() const { return in_use_bytes_ + free_.bytes == used_; }

 private:
  std::vector<uint64_t> words_;
  uint64_t boundary_, used_ = 0, in_use_bytes_ = 0;
  FreeExtents free_{};
  std::map<uint64_t, uint64_t> in_use_;
};

TEST(FreeExtents, NoneOverlapsAnother) {
  for (const uint64_t boundary : {uint64_t{0}, uint64_t{1} << 20}) {
    Memory memory(uint64_t{64} << 20, boundary);
    std::mt19937_64 random(5);
    std::vector<uint64_t> held;
    for (int round = 0; round < 60'000; ++round) {
      if (held.empty() || random() % 5 < 2 || (held.size() < 2000 && random() % 2 == 0)) {
        const uint64_t most = random() % 20 == 0 ? 100'000 : 2000;
        held.push_back(memory.take(1 + random() % most));
      } else {
        std::swap(held[random() % held.size()], held.back());
        memory.give(held.back());
        held.pop_back();
      }
      if (random() % 5000 == 0) memory.lists().merge();
      ASSERT_FALSE(HasFailure()) << round;
      if (boundary == 0) {
        ASSERT_TRUE(memory.is_whole()) << round;
      }
    }
  }
}

TEST(FreeExtents, AllComesTogetherAgain) {
  Memory memory(uint64_t{4} << 20);
  constexpr uint64_t kExtents = 1000;
  std::vector<uint64_t> held;
  held.reserve(kExtents);
  for (uint64_t i = 0; i < kExtents; ++i) held.push_back(memory.take(1 + i * 3));
  for (const uint64_t offset : held) memory.give(offset);
  memory.lists().merge();
  const uint64_t used = memory.used();
  memory.take(used / 3);
  EXPECT_EQ(memory.used(), used);
}

// Each value becomes longer, again and again.
TEST(FreeExtents, MemoryOfShortValuesServesLongerOnes) {
  constexpr uint64_t kValues = 20'000, kLongest = 820;
  Memory memory(uint64_t{128} << 20);
  std::vector<uint64_t> held;
  held.reserve(kValues);
  for (uint64_t i = 0; i < kValues; ++i) held.push_back(memory.take(100));
  for (uint64_t bytes = 116; bytes <= kLongest; bytes += 16)
    for (uint64_t& offset : held) {
      const uint64_t longer = memory.take(bytes);
      memory.give(offset);
      offset = longer;
    }
  EXPECT_LT(memory.used(), 3 * kValues * kLongest);
  ASSERT_FALSE(HasFailure());
}

}  // namespace
}  // namespace strom::store
