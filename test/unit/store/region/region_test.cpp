// The published region: what is put is found, what is not whole is not believed, extents come back, limits are kept.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <random>
#include <thread>

#include "store/size_classes.hpp"
#include "test_region.hpp"

namespace strom::store::region {
namespace {

TEST(SizeClasses, HoldWhatTheyAreFor) {
  for (uint64_t bytes = 1; bytes <= record_bytes(kMaxKey, kMaxPayload); bytes += bytes < 5000 ? 1 : 997) {
    const uint32_t size_class = class_of(bytes);
    ASSERT_LT(size_class, kExtentClasses);
    ASSERT_GE(bytes_of_class(size_class), bytes);
    if (size_class > 0) {
      ASSERT_LT(bytes_of_class(size_class - 1), bytes);
    }
    ASSERT_EQ(bytes_of_class(size_class) % kUnit, 0u);
  }
}

TEST(Region, FollowsAMapOverRandomChanges) {
  for (const auto& [slots, kind] : {std::pair(kSlots, ChecksumKind::kCrc64), std::pair(1U, ChecksumKind::kXxh3)}) {
    TestRegion region(3000, 1 << 10, slots, kind);
    TestReader reader(region);
    std::map<std::string, std::string> model;
    follow_random_changes(region, slots, reader, model);
    if (HasFatalFailure()) return;
    const auto counts = check(region.memory(), region.bytes(), [&](auto key, auto payload, bool) {
      const auto found = model.find(std::string(key));
      if (found == model.end() || found->second != payload) return Status(ErrorCode::kInternal, "another row");
      return Status::ok();
    });
    ASSERT_TRUE(counts.is_ok()) << counts.status().message();
    EXPECT_EQ(counts.value().rows, model.size());
    EXPECT_EQ(region.writer().rows(), model.size());
  }
}

TEST(Region, FillsUpToItsLimitAndSaysSo) {
  constexpr uint64_t kRows = 200000;
  TestRegion region(kRows, 64);
  for (uint64_t i = 0; i < kRows; ++i) ASSERT_TRUE(region.put(key_of(i), "value").is_ok()) << i;
  const Status full = region.put(key_of(kRows), "value");
  EXPECT_EQ(full.code(), ErrorCode::kOverBudget);
  EXPECT_TRUE(region.put(key_of(5), "other").is_ok());
  const auto counts = check(region.memory(), region.bytes());
  ASSERT_TRUE(counts.is_ok()) << counts.status().message();
  EXPECT_EQ(counts.value().rows, kRows);
  EXPECT_EQ(counts.value().stash, 0u);
  TestReader reader(region);
  for (uint64_t i = 0; i < kRows; ++i) ASSERT_EQ(reader.get(key_of(i)), GetResult::kFound);
  EXPECT_LT(static_cast<double>(reader.reader().counts().bucket_reads), 1.4 * kRows);
  EXPECT_EQ(reader.get(key_of(kRows)), GetResult::kNotFound);
}

TEST(Region, UsesExtentsAgainAndZeroesThem) {
  TestRegion region(100, 1 << 10);
  const std::string secret = "a secret that is gone";
  for (int round = 0; round < 20000; ++round)
    ASSERT_TRUE(
        region.put(key_of(1), round % 2 == 0 ? secret : std::string(static_cast<size_t>(round % 900), 'x')).is_ok());
  ASSERT_TRUE(region.writer().erase(key_of(1)));
  while (region.writer().reserve(64).is_ok()) {
  }
  const std::string_view all(reinterpret_cast<const char*>(region.memory()), region.bytes());
  EXPECT_EQ(all.find(secret), std::string_view::npos);
}

class RegionOfKind : public testing::TestWithParam<ChecksumKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, RegionOfKind, testing::ValuesIn(kChecksumKinds));

TEST_P(RegionOfKind, AnyChangedByteIsNoticed) {
  TestRegion region(50, 256, kSlots, GetParam());
  std::mt19937_64 random(7);
  for (uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(region.put(key_of(i), std::string(i * 3, 'v')).is_ok());
  TestReader reader(region);
  const uint64_t used = region.writer().header().extents_end;
  // A get of a damaged row takes all of a reader's tries, and a turn of the processor each.
  for (int round = 0; round < 500; ++round) {
    const uint64_t at =
        region.writer().header().extents_offset + random() % (used - region.writer().header().extents_offset);
    uint8_t& byte = region.memory()[at];
    const uint8_t before = byte;
    byte ^= static_cast<uint8_t>(1U << (random() % 8));
    for (uint64_t i = 0; i < 50; ++i)
      if (reader.get(key_of(i)) == GetResult::kFound) {
        ASSERT_EQ(reader.payload(), std::string(i * 3, 'v'));
      }
    byte = before;
  }
}

TEST(Region, IsCheckedInPieces) {
  constexpr uint64_t kRows = 2000;
  TestRegion region(kRows);
  for (uint64_t i = 0; i < kRows; ++i) ASSERT_TRUE(region.put(key_of(i), "value").is_ok());
  uint64_t seen = 0;
  const EachRecord each = [&seen](auto, auto, bool) { return ++seen, Status::ok(); };
  Checking checking(region.memory(), region.bytes(), each);
  for (uint64_t bucket = 0; bucket < checking.buckets(); ++bucket) ASSERT_TRUE(checking.check_bucket(bucket).is_ok());
  EXPECT_EQ(seen, kRows);
  EXPECT_TRUE(checking.check_counts().is_ok());
  for (uint64_t i = 0; i < kRows; ++i) ASSERT_TRUE(checking.check_key(key_of(i)).is_ok()) << i;
  EXPECT_EQ(seen, 2 * kRows);
  EXPECT_EQ(checking.counts().rows, kRows);
  EXPECT_EQ(checking.check_key(key_of(kRows)).code(), ErrorCode::kCorruptFile);
  ASSERT_TRUE(region.writer().erase(key_of(3)));
  EXPECT_EQ(checking.check_key(key_of(3)).code(), ErrorCode::kCorruptFile);
  EXPECT_EQ(checking.check_counts().code(), ErrorCode::kCorruptFile);
  // The record's key still is what is looked for, but not its value.
  const RecordHeader* record = region.writer().find(key_of(4));
  const auto* bytes = reinterpret_cast<const uint8_t*>(record);
  region.memory()[bytes - region.memory() + record_bytes(key_of(4).size(), 5) - sizeof(uint64_t)] ^= 1;
  EXPECT_EQ(checking.check_key(key_of(4)).code(), ErrorCode::kCorruptFile);
}

TEST(Region, AForeignHeaderIsRefused) {
  TestRegion region(10);
  auto& header = *reinterpret_cast<Header*>(region.memory());
  EXPECT_TRUE(check_header(region.memory(), region.bytes()).is_ok());
  EXPECT_EQ(check_header(region.memory(), 100).code(), ErrorCode::kCorruptFile);
  EXPECT_EQ(check_header(region.memory(), region.bytes() - 1).code(), ErrorCode::kCorruptFile);
  for (size_t at = 0; at < offsetof(Header, checksum); ++at) {
    region.memory()[at] ^= 1;
    EXPECT_FALSE(check_header(region.memory(), region.bytes()).is_ok()) << at;
    region.memory()[at] ^= 1;
  }
  header.checksum_kind = static_cast<uint32_t>(ChecksumKind::kXxh3) + 1;
  header.checksum = crc64(&header, offsetof(Header, checksum));
  EXPECT_EQ(check_header(region.memory(), region.bytes()).code(), ErrorCode::kUnsupported);
  header.version = kVersion + 1;
  EXPECT_EQ(check_header(region.memory(), region.bytes()).code(), ErrorCode::kUnsupported);
}

TEST(Region, ARecordTellsWhetherThereAreNulls) {
  TestRegion region(10);
  // Generations begin again before they reach that bit.
  region.state().generation = kMaxGeneration - 2;
  TestReader reader(region);
  for (uint32_t i = 0; i < 6; ++i) {
    const bool wanted = i % 2 != 0;
    ASSERT_TRUE(region.put("key", "value", wanted).is_ok());
    ASSERT_EQ(reader.get("key"), GetResult::kFound);
    EXPECT_EQ(reader.payload(), "value");
    EXPECT_EQ(reader.value.has_nulls, wanted);
    EXPECT_EQ(reader.value.generation, i < 2 ? kMaxGeneration - 1 + i : i - 1);
    const auto counts = check(region.memory(), region.bytes(), [&](auto, auto, bool has_nulls) {
      return has_nulls == wanted ? Status::ok() : Status(ErrorCode::kInternal, "another form");
    });
    EXPECT_TRUE(counts.is_ok());
  }
}

TEST(Region, AMovedRegionIsNotRead) {
  TestRegion region(10);
  ASSERT_TRUE(region.put("key", "value").is_ok());
  TestReader reader(region);
  EXPECT_EQ(reader.get("key"), GetResult::kFound);
  region.writer().set_state(State::kMoved);
  EXPECT_EQ(reader.get("key"), GetResult::kMoved);
}

// A region is retired by a new state, and by zeros in place of everything else.
TEST(Region, ARegionThatIsRetiredMeanwhileHasNoMissingRows) {
  for (int round = 0; round < 300; ++round) {
    TestRegion region(10);
    ASSERT_TRUE(region.put("key", "value").is_ok());
    std::atomic<bool> reads = false;
    std::atomic<int> not_found = 0;
    std::thread thread([&] {
      TestReader reader(region);
      GetResult result;
      do {
        result = reader.get("key");
        reads = true;
        not_found += result == GetResult::kNotFound ? 1 : 0;
      } while (result != GetResult::kMoved);
    });
    while (!reads) std::this_thread::yield();
    region.writer().set_state(State::kMoved);
    for (uint64_t at = kHeaderBytes; at < region.writer().header().extents_end; at += sizeof(uint64_t))
      __atomic_store_n(reinterpret_cast<uint64_t*>(region.memory() + at), uint64_t{0}, __ATOMIC_RELEASE);
    thread.join();
    ASSERT_EQ(not_found, 0) << round;
  }
}

TEST(Region, ASmallBufferLearnsWhatIsNeeded) {
  TestRegion region(10, 100000);
  ASSERT_TRUE(region.put("key", std::string(70000, 'x')).is_ok());
  Reader reader = region.reader();
  std::vector<uint64_t> buffer(4);
  Value value;
  value.buffer = buffer.data();
  value.capacity = buffer.size() * sizeof(uint64_t);
  ASSERT_EQ(reader.get({"key", 3}, value), GetResult::kSmallBuffer);
  buffer.resize(value.bytes / sizeof(uint64_t));
  value.buffer = buffer.data();
  value.capacity = value.bytes;
  ASSERT_EQ(reader.get({"key", 3}, value), GetResult::kFound);
  EXPECT_EQ(value.bytes, 70000u);
}

TEST(Region, ManyKeysAtOnceAreThoseOneByOne) {
  TestRegion region(1000, 64);
  for (uint64_t i = 0; i < 1000; i += 2) ASSERT_TRUE(region.put(key_of(i), std::to_string(i)).is_ok());
  Reader reader = region.reader();
  std::vector<uint64_t> numbers(1000);
  std::vector<uint64_t> buffers(1000 * 16);
  std::vector<Key> keys;
  std::vector<Value> values(1000);
  for (uint64_t i = 0; i < 1000; ++i) {
    numbers[i] = i;
    keys.push_back({&numbers[i], sizeof(uint64_t)});
    values[i].buffer = &buffers[i * 16];
    values[i].capacity = 128;
  }
  reader.get_many(keys.data(), values.data(), keys.size());
  for (uint64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(values[i].result, i % 2 == 0 ? GetResult::kFound : GetResult::kNotFound);
    if (i % 2 == 0) {
      ASSERT_EQ(std::string(static_cast<const char*>(values[i].payload), values[i].bytes), std::to_string(i));
    }
  }
}

TEST(Region, OfOneRowKeepsItsLimit) {
  TestRegion small(1, 64);
  ASSERT_TRUE(small.put("first", "1").is_ok());
  EXPECT_EQ(small.put("second", "2").code(), ErrorCode::kOverBudget);
  TestReader reader(small);
  EXPECT_EQ(reader.get("first"), GetResult::kFound);
  EXPECT_EQ(reader.get("second"), GetResult::kNotFound);
}

}  // namespace
}  // namespace strom::store::region
