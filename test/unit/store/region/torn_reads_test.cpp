// Writers against readers: a value whose first and last word differ, or that was never written, is a torn one. Runs for
// two seconds, or for STROM_TORN_READS_SECONDS.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "test_region.hpp"

namespace strom::store::region {
namespace {

constexpr uint64_t kKeys = 20000;

/// A value of a key: its words are all the same number, which names key and version.
std::string value_of(uint64_t key, uint64_t version, size_t words) {
  const uint64_t word = key << 40 | version;
  std::string value(words * sizeof(word), '\0');
  for (size_t i = 0; i < words; ++i) std::memcpy(value.data() + i * sizeof(word), &word, sizeof(word));
  return value;
}

bool is_whole(uint64_t key, std::string_view value, uint64_t* version) {
  uint64_t first = 0;
  if (value.size() < sizeof(first) || value.size() % sizeof(first) != 0) return false;
  std::memcpy(&first, value.data(), sizeof(first));
  for (size_t at = 0; at < value.size(); at += sizeof(first))
    if (std::memcmp(value.data() + at, &first, sizeof(first)) != 0) return false;
  *version = first & ((uint64_t{1} << 40) - 1);
  return first >> 40 == key;
}

class TornReads : public testing::TestWithParam<ChecksumKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, TornReads, testing::ValuesIn(kChecksumKinds));

TEST_P(TornReads, AreNeverBelieved) {
  const char* wanted = std::getenv("STROM_TORN_READS_SECONDS");
  const std::chrono::seconds length(wanted != nullptr ? std::atoi(wanted) : 2);
  TestRegion region(kKeys, 256, kSlots, GetParam());
  for (uint64_t key = 2; key < kKeys; key += 2)
    ASSERT_TRUE(region.put({reinterpret_cast<const char*>(&key), 8}, value_of(key, 0, 8)).is_ok());
  std::atomic<bool> is_over{false};
  std::atomic<uint64_t> torn{0}, lost{0}, unstable{0}, gets{0}, retries{0}, backwards{0};

  auto read = [&](unsigned seed) {
    TestReader reader(region);
    std::mt19937_64 random(seed);
    std::vector<uint64_t> seen(kKeys);
    uint64_t done = 0;
    for (; !is_over.load(std::memory_order_relaxed); ++done) {
      const uint64_t key = random() % 64 != 0 ? random() % kKeys : random() % 4 * 2;
      const GetResult result = reader.get({reinterpret_cast<const char*>(&key), 8});
      uint64_t version = 0;
      if (result == GetResult::kFound) {
        if (!is_whole(key, reader.payload(), &version)) ++torn;
        if (version < seen[key]) ++backwards;
        seen[key] = std::max(seen[key], version);
      } else if (result == GetResult::kUnstable) {
        ++unstable;  // "ask the server": an honest answer, where the writer has no processor for long
      } else if (key % 2 == 0 && key != 0) {
        ++lost;  // even keys are always there
      }
    }
    gets += done;
    retries += reader.reader().counts().retries;
  };

  std::vector<std::thread> readers;
  readers.reserve(2);
  for (unsigned i = 0; i < 2; ++i) readers.emplace_back(read, i);
  std::mt19937_64 random(99);
  uint64_t version = 0;
  const auto end = std::chrono::steady_clock::now() + length;
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 200; ++i) {
      const uint64_t key = random() % 16 != 0 ? 1 + random() % (kKeys - 1) : 2 + random() % 4 * 2;
      const std::string_view name(reinterpret_cast<const char*>(&key), 8);
      if (key % 2 == 1 && random() % 2 == 0)
        region.writer().erase(name);
      else
        ASSERT_TRUE(region.put(name, value_of(key, ++version, 1 + random() % 30)).is_ok());
    }
  }
  is_over = true;
  for (auto& reader : readers) reader.join();
  const auto counts = check(region.memory(), region.bytes());
  EXPECT_TRUE(counts.is_ok()) << counts.status().message();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(lost, 0u);
  EXPECT_EQ(backwards, 0u);
  EXPECT_LE(unstable, 10 + gets / 100'000);
  EXPECT_GT(gets, 1000u);
  std::printf("%lu gets, %lu retries, %lu puts\n", gets.load(), retries.load(), version);
}

}  // namespace
}  // namespace strom::store::region
