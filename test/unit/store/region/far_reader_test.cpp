// Gets and scans through a transport: the same rows as in mapped memory, beside writers, torn, moved, and cut off.
#include "store/region/far_reader.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "test_region.hpp"

namespace strom::store::region {
namespace {

/// Reads the region's memory, one word after the other, in an order of its own.
class MemoryTransport : public Transport {
 public:
  explicit MemoryTransport(const uint8_t* memory) : memory_(memory) {}

  Reach read(std::span<const Piece> pieces) override {
    ++trips;
    if (before) before(trips);
    if (reach != Reach::kDone) return reach;
    for (size_t i = pieces.size(); i-- > 0;) {
      const Piece& piece = pieces[i];
      const bool has_words = piece.offset % sizeof(uint64_t) == 0 && piece.bytes % sizeof(uint64_t) == 0;
      if (has_words)
        copy_words_from(piece.to, memory_ + piece.offset, piece.bytes);
      else
        std::memcpy(piece.to, memory_ + piece.offset, piece.bytes);
    }
    return Reach::kDone;
  }
  void set_patience(unsigned) override {}

  Reach reach = Reach::kDone;
  int trips = 0;
  std::function<void(int)> before;

 private:
  const uint8_t* memory_;
};

struct FarTest {
  explicit FarTest(TestRegion& region)
      : transport(region.memory()),
        reader(FarReader::attach(&transport, &reach, &description).value()),
        buffer(1 << 19) {}

  GetResult get(std::string_view key) {
    value = {};
    value.buffer = buffer.data();
    value.capacity = buffer.size() * sizeof(uint64_t);
    reader.get({key.data(), key.size()}, value);
    return value.result;
  }
  std::string_view payload() const { return {static_cast<const char*>(value.payload), value.bytes}; }
  /// All rows, in one scan.
  std::map<std::string, std::string> scan() {
    std::map<std::string, std::string> rows;
    std::vector<FarRow> block;
    for (uint64_t bucket = 0; bucket < reader.header().bucket_count + kStashBuckets;) {
      EXPECT_EQ(reader.read_block(bucket, &bucket, &block), GetResult::kFound);
      for (const FarRow& row : block)
        rows.emplace(std::string(static_cast<const char*>(row.key.data), row.key.bytes),
                     std::string(static_cast<const char*>(row.value.payload), row.value.bytes));
    }
    return rows;
  }

  MemoryTransport transport;
  Reach reach = Reach::kFailed;
  std::string description;
  FarReader reader;
  std::vector<uint64_t> buffer;
  Value value;
};

TEST(FarReader, FollowsAMapOverRandomChanges) {
  for (const auto& [slots, kind] : {std::pair(kSlots, ChecksumKind::kCrc64), std::pair(1U, ChecksumKind::kXxh3)}) {
    TestRegion region(3000, 1 << 10, slots, kind);
    FarTest far(region);
    EXPECT_EQ(far.description, "a description");
    std::map<std::string, std::string> model;
    follow_random_changes(region, slots, far, model);
    if (HasFatalFailure()) return;
    EXPECT_EQ(far.scan(), model);
    EXPECT_EQ(far.reader.live().rows, model.size());
  }
}

TEST(FarReader, TakesTwoRoundTrips) {
  TestRegion region(1000);
  ASSERT_TRUE(region.put("here", "a row").is_ok());
  FarTest far(region);
  for (const char* key : {"here", "gone"}) {
    const int before = far.transport.trips;
    far.get(key);
    EXPECT_EQ(far.transport.trips - before, 2) << key;
  }
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 16; ++i) {
    keys.push_back(key_of(i));
    ASSERT_TRUE(region.put(keys.back(), std::string(100, 'x')).is_ok());
  }
  std::vector<Key> wanted;
  std::vector<Value> values(16);
  std::vector<std::vector<uint64_t>> buffers(16, std::vector<uint64_t>(100));
  for (size_t i = 0; i < 16; ++i) {
    wanted.push_back({keys[i].data(), keys[i].size()});
    values[i].buffer = buffers[i].data();
    values[i].capacity = 800;
  }
  const int before = far.transport.trips;
  EXPECT_EQ(far.reader.get_many(wanted.data(), values.data(), 16), GetResult::kFound);
  EXPECT_EQ(far.transport.trips - before, 2);
  for (const Value& value : values) EXPECT_EQ(value.bytes, 100u);
}

TEST(FarReader, ReadsLongRecordsAndSaysHowMuchRoomTheyNeed) {
  TestRegion region(100, 1 << 20);
  const std::string longest(1 << 20, 'l');
  ASSERT_TRUE(region.put("long", longest).is_ok());
  FarTest far(region);
  EXPECT_EQ(far.get("long"), GetResult::kFound);
  EXPECT_EQ(far.payload(), longest);
  far.buffer.resize(100);
  EXPECT_EQ(far.get("long"), GetResult::kSmallBuffer);
  EXPECT_GE(far.value.bytes, longest.size());
  EXPECT_EQ(far.scan().at("long"), longest);
}

TEST(FarReader, BelievesNothingThatIsTorn) {
  TestRegion region(100);
  ASSERT_TRUE(region.put("key", std::string(200, 'a')).is_ok());
  FarTest far(region);
  // The row changes between the read of its bucket and that of its record, a few times.
  int changes = 0;
  far.transport.before = [&](int trip) {
    if (trip % 2 == 0 || changes >= 5) return;
    ++changes;
    for (int i = 0; i < 5000; ++i)
      ASSERT_TRUE(region.put("key", std::string(200, static_cast<char>('b' + changes))).is_ok());
  };
  EXPECT_EQ(far.get("key"), GetResult::kFound);
  EXPECT_EQ(far.payload(), std::string(200, static_cast<char>('b' + changes)));
  far.transport.before = {};
  // A record that is damaged is never believed.
  const auto* header = reinterpret_cast<const Header*>(region.memory());
  region.memory()[header->extents_end - 300] ^= 1;
  for (uint64_t at = header->extents_offset; at < header->extents_end; at += 64) region.memory()[at] ^= 1;
  EXPECT_EQ(far.get("key"), GetResult::kUnstable);
  // An entry that points out of the region is not followed.
  auto* entries = reinterpret_cast<Entry*>(region.memory() + header->buckets_offset);
  for (uint64_t i = 0; i < header->bucket_count * header->bucket_slots; ++i)
    if (entries[i].place != 0) entries[i].place |= (uint64_t{1} << kOffsetBits) - 1;
  EXPECT_EQ(far.get("key"), GetResult::kUnstable);
}

TEST(FarReader, MissesNoKeyThatMoves) {
  TestRegion region(100);
  ASSERT_TRUE(region.put("key", "value").is_ok());
  FarTest far(region);
  auto* header = reinterpret_cast<Header*>(region.memory());
  // While entries are on their way, nothing is said to be missing.
  header->moves += 1;
  EXPECT_EQ(far.get("other"), GetResult::kUnstable);
  EXPECT_EQ(far.get("key"), GetResult::kFound);
  header->moves += 1;
  EXPECT_EQ(far.get("other"), GetResult::kNotFound);
  // Each time something has moved, it is looked for again.
  far.transport.before = [&](int trip) {
    if (trip < 100) header->moves += 2;
  };
  EXPECT_EQ(far.get("other"), GetResult::kNotFound);
  EXPECT_GE(far.transport.trips, 100);
}

TEST(FarReader, SaysWhyItEnds) {
  TestRegion region(100);
  ASSERT_TRUE(region.put("key", "value").is_ok());
  FarTest far(region);
  for (const Reach reach : {Reach::kFailed, Reach::kSilent, Reach::kDenied, Reach::kMoved}) {
    far.transport.reach = reach;
    EXPECT_EQ(far.get("key"), GetResult::kFailed);
    EXPECT_EQ(far.reader.reach(), reach);
  }
  far.transport.reach = Reach::kDone;
  region.writer().set_state(State::kDropped);
  EXPECT_EQ(far.get("key"), GetResult::kMoved);
  EXPECT_EQ(far.reader.live().state, static_cast<uint32_t>(State::kDropped));
  // Headers that cannot be are refused.
  std::vector<uint64_t> zeros(kHeaderBytes / sizeof(uint64_t));
  MemoryTransport nothing(reinterpret_cast<const uint8_t*>(zeros.data()));
  Reach reach = Reach::kFailed;
  std::string description;
  EXPECT_EQ(FarReader::attach(&nothing, &reach, &description).status().code(), ErrorCode::kCorruptFile);
  EXPECT_EQ(reach, Reach::kDone);
  nothing.reach = Reach::kDenied;
  EXPECT_FALSE(FarReader::attach(&nothing, &reach, &description).is_ok());
  EXPECT_EQ(reach, Reach::kDenied);
}

TEST(FarReader, ReadsWholeRowsBesideAWriter) {
  constexpr uint64_t kKeys = 500;
  TestRegion region(2 * kKeys);
  for (uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(region.put(key_of(i), std::string(64, 'a')).is_ok());
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    std::mt19937_64 random(1);
    while (!stop) {
      const uint64_t key = random() % kKeys;
      (void)region.put(key_of(key), std::string(16 + random() % 300, static_cast<char>(random())));
      // Others come and go, so that entries move.
      (void)region.put(key_of(kKeys + random() % 400), "other");
      region.writer().erase(key_of(kKeys + random() % 400));
    }
  });
  FarTest far(region);
  for (int i = 0; i < 20000; ++i) {
    const GetResult result = far.get(key_of(static_cast<uint64_t>(i) % kKeys));
    if (result == GetResult::kUnstable) continue;
    ASSERT_EQ(result, GetResult::kFound);
    ASSERT_EQ(far.payload(), std::string(far.payload().size(), far.payload()[0]));
  }
  stop = true;
  writer.join();
}

}  // namespace
}  // namespace strom::store::region
