// The writing side of a published region: the cuckoo index, extents for records, and their delayed reuse. There is one
// writer at a time: the caller holds a lock. Publishing cannot fail, because extents and rows are reserved before. Used
// by the memory store's transactions and by the server of messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.hpp"
#include "store/free_extents.hpp"
#include "store/region/format.hpp"

namespace strom::store::region {

/// The parameters of a new region.
struct Plan {
  uint64_t max_rows = 0;
  uint64_t extents_bytes = 0;  // address space for records; memory is allocated on demand
  uint32_t bucket_slots = kSlots;
  ChecksumKind checksum_kind = ChecksumKind::kCrc64;
  std::string_view description;  // of the rows, docs/format/store.md
  uint64_t region_id = 0, seeds[2] = {0, 0};
  uint64_t epoch = 0;
};

/// The places of a region's parts.
struct Geometry {
  uint64_t bucket_count, description_offset, buckets_offset, extents_offset, file_bytes;
};
Geometry geometry_of(const Plan& plan);

/// The bytes of extents that always suffice for `rows` records of `record` bytes, including those that wait for reuse.
uint64_t extents_for(uint64_t rows, uint64_t record);

/// Allocates memory for bytes [offset, offset + bytes) of the region. False: no memory.
using Grow = bool (*)(void* context, uint64_t offset, uint64_t bytes);

inline constexpr uint32_t kWaiting = 4096;     // extents that may wait for reuse
inline constexpr uint64_t kGraceUs = 100'000;  // an extent waits this long, unless too many wait
inline constexpr uint64_t kGrowBytes = 4 << 20;

/// The extent of a replaced record.
struct WaitingExtent {
  uint64_t offset, bytes, since_us;
};

/// The state that writers share, in memory that clients do not see. All zeros at the beginning.
struct WriterState {
  FreeExtents free;
  uint64_t grown_end;      // memory is allocated up to here
  uint64_t reserved_rows;  // promised to transactions that have not published yet
  uint32_t generation;
  uint32_t random;
  uint64_t wait_begin, wait_end;  // positions in `waiting`, a ring
  WaitingExtent waiting[kWaiting];
};

/// Encodes a key and its payload as a record for Writer::publish(). `image` has record_bytes() bytes and is aligned to
/// 8 bytes.
void encode_record(std::span<uint8_t> image, std::string_view key, std::string_view payload, bool has_nulls = false);
/// The same without the payload, whose bytes the caller writes to the returned address.
uint8_t* begin_record(std::span<uint8_t> image, std::string_view key, uint32_t payload, bool has_nulls) noexcept;

class Writer {
 public:
  /// Makes a region in `memory`, which is zeroed and has geometry_of(plan).file_bytes bytes of address space. The part
  /// before the extents has memory already. The region stays in State::kRecovering until set_state().
  static Writer create(uint8_t* memory, const Plan& plan, WriterState* state);
  /// The writer of an existing region, which this or another process has made.
  Writer(uint8_t* memory, WriterState* state);

  void set_grow(Grow grow, void* context) { grow_ = grow, grow_context_ = context; }
  void set_state(State state) { store_word(&header_->state, static_cast<uint32_t>(state), __ATOMIC_RELEASE); }

  /// Reserves an extent for a record of `bytes` bytes. Errors: kOverBudget (the region is full), kOutOfMemory.
  Result<uint64_t> reserve(uint64_t bytes);
  void release(uint64_t offset, uint64_t bytes);
  /// Reserves room for one more key. Errors: kOverBudget.
  Status reserve_row();
  void release_row() { --state_->reserved_rows; }

  void begin_publish() { store_word(&header_->publish_begin, header_->publish_begin + 1, __ATOMIC_RELEASE); }
  void end_publish() { store_word(&header_->publish_end, header_->publish_end + 1, __ATOMIC_RELEASE); }
  /// Makes `image` the key's record, in the extent at `offset` from reserve(). `is_reserved_row`: the key is new.
  /// Returns the record's generation.
  uint32_t publish(std::span<uint8_t> image, uint64_t offset, bool is_reserved_row) noexcept;
  /// Removes a key; false when it is not there.
  bool erase(std::string_view key) noexcept;
  /// The record of a key, or nullptr. Only for the writer's thread.
  const RecordHeader* find(std::string_view key) const;

  /// These prefetch the memory that publish() needs for a key. Call fetch_record() some time after fetch_buckets().
  void fetch_buckets(std::string_view key) const;
  void fetch_record(std::string_view key) const;

  const Header& header() const { return *header_; }
  /// Shows that the server is alive; `time` is in microseconds since 1970.
  void beat(uint64_t time) { store_word(&header_->heartbeat_us, time, __ATOMIC_RELEASE); }
  uint64_t rows() const { return header_->rows; }
  uint64_t free_bytes() const { return state_->free.bytes; }

 private:
  struct Spot {
    uint64_t bucket;
    uint32_t slot;
  };
  Entry* entry_at(Spot spot) const { return entries_ + spot.bucket * header_->bucket_slots + spot.slot; }
  bool find_key(const KeyHash& hash, std::string_view key, Spot* spot) const;
  bool find_in_bucket(uint64_t bucket, const KeyHash& hash, std::string_view key, Spot* spot) const;
  bool empty_in_bucket(uint64_t bucket, Spot* spot) const;
  bool make_room(const KeyHash& hash, Spot* spot) noexcept;
  void move_along(const struct Path& path) noexcept;
  KeyHash hash_of_entry(const Entry& entry) const;
  const RecordHeader* record_at(uint64_t offset) const {
    return reinterpret_cast<const RecordHeader*>(memory_ + offset);
  }
  void set_entry(Spot spot, uint64_t place, uint64_t sum) noexcept;
  void retire(const Entry& entry, uint64_t now_us) noexcept;
  void let_go(uint64_t now_us) noexcept;
  void add_free(uint64_t offset, uint64_t bytes) noexcept;
  ExtentLists lists() const { return {&state_->free, memory_, 0}; }

  Header* header_;
  uint8_t* memory_;
  Entry* entries_;
  WriterState* state_;
  Grow grow_ = nullptr;
  void* grow_context_ = nullptr;
};

}  // namespace strom::store::region
