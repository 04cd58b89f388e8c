// A region in memory of this process, for tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "store/region/check.hpp"
#include "store/region/reader.hpp"
#include "store/region/writer.hpp"

namespace strom::store::region {

inline constexpr ChecksumKind kChecksumKinds[] = {ChecksumKind::kCrc64, ChecksumKind::kXxh3};

class TestRegion {
 public:
  explicit TestRegion(uint64_t rows, uint64_t record = 1 << 10, uint32_t slots = kSlots,
                      ChecksumKind checksum_kind = ChecksumKind::kCrc64) {
    plan_.max_rows = rows;
    plan_.extents_bytes = extents_for(rows, record);
    plan_.bucket_slots = slots;
    plan_.checksum_kind = checksum_kind;
    plan_.description = "a description";
    plan_.region_id = 0x123456789ABCDEF;
    plan_.seeds[0] = 17;
    plan_.seeds[1] = 4711;
    bytes_ = geometry_of(plan_).file_bytes;
    memory_ = static_cast<uint8_t*>(
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    writer_ = std::make_unique<Writer>(Writer::create(memory_, plan_, state_.get()));
    writer_->set_state(State::kReady);
  }
  ~TestRegion() { munmap(memory_, bytes_); }
  TestRegion(const TestRegion&) = delete;
  TestRegion& operator=(const TestRegion&) = delete;

  Writer& writer() { return *writer_; }
  WriterState& state() { return *state_; }
  Reader reader() const { return Reader::attach(memory_, bytes_).value(); }
  uint8_t* memory() { return memory_; }
  uint64_t bytes() const { return bytes_; }

  Status put(std::string_view key, std::string_view payload, bool has_nulls = false) {
    std::vector<uint64_t> words(record_bytes(key.size(), payload.size()) / sizeof(uint64_t));
    const std::span<uint8_t> image(reinterpret_cast<uint8_t*>(words.data()), words.size() * sizeof(uint64_t));
    encode_record(image, key, payload, has_nulls);
    const bool is_new = writer_->find(key) == nullptr;
    if (is_new) STROM_TRY(writer_->reserve_row());
    auto offset = writer_->reserve(image.size());
    if (!offset.is_ok()) {
      if (is_new) writer_->release_row();
      return offset.status();
    }
    writer_->begin_publish();
    writer_->publish(image, offset.value(), is_new);
    writer_->end_publish();
    return Status::ok();
  }

 private:
  Plan plan_;
  std::unique_ptr<WriterState> state_ = std::make_unique<WriterState>();
  uint64_t bytes_ = 0;
  uint8_t* memory_ = nullptr;
  std::unique_ptr<Writer> writer_;
};

/// A thread's reader with memory for values.
class TestReader {
 public:
  explicit TestReader(const TestRegion& region) : reader_(region.reader()), buffer_(1 << 17) {}

  GetResult get(std::string_view key) {
    value.buffer = buffer_.data();
    value.capacity = buffer_.size() * sizeof(uint64_t);
    return reader_.get({key.data(), key.size()}, value);
  }
  std::string_view payload() const { return {static_cast<const char*>(value.payload), value.bytes}; }
  Reader& reader() { return reader_; }

  Value value;

 private:
  Reader reader_;
  std::vector<uint64_t> buffer_;
};

inline std::string key_of(uint64_t number) { return {reinterpret_cast<const char*>(&number), sizeof(number)}; }

/// Puts and erases rows at random, and compares what `reader` gets with a map after each of the changes. `model`: the
/// rows in the end. A reader has get() and payload(), as TestReader has.
template <class AnyReader>
void follow_random_changes(TestRegion& region, uint64_t seed, AnyReader& reader,
                           std::map<std::string, std::string>& model) {
  std::mt19937_64 random(seed);
  for (int step = 0; step < 60000; ++step) {
    std::string key = key_of(random() % 4000).substr(0, 3 + random() % 2);
    if (random() % 3 != 0 && (model.size() < 2990 || model.contains(key))) {
      const std::string payload(random() % 700, static_cast<char>(random()));
      ASSERT_TRUE(region.put(key, payload).is_ok());
      model[key] = payload;
    } else if (random() % 2 == 0) {
      ASSERT_EQ(region.writer().erase(key), model.erase(key) == 1);
    }
    const auto found = model.find(key);
    ASSERT_EQ(reader.get(key), found == model.end() ? GetResult::kNotFound : GetResult::kFound) << step;
    if (found != model.end()) {
      ASSERT_EQ(reader.payload(), found->second);
    }
  }
}

}  // namespace strom::store::region
