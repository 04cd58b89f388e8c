#include "store/region/writer.hpp"

#include <time.h>

#include <algorithm>
#include <string>

#include "store/checksum.hpp"
#include "store/size_classes.hpp"

namespace strom::store::region {

namespace {

constexpr double kFill = 0.85;
constexpr uint64_t kPage = 4096;
static_assert(class_of(record_bytes(kMaxKey, kMaxPayload)) < kExtentClasses);

uint64_t now_us() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

/// The moves that free an entry: each entry moves to the slot of the next step, and the last one to an empty slot.
struct Path {
  static constexpr int kMost = 6;
  struct Step {
    uint64_t bucket;
    uint32_t slot;
  } steps[kMost];
  int length = 0;
};

Geometry geometry_of(const Plan& plan) {
  Geometry geometry;
  const double fill = plan.bucket_slots == 1 ? 0.75 : kFill;
  geometry.bucket_count = static_cast<uint64_t>(static_cast<double>(plan.max_rows) / fill / plan.bucket_slots) + 1;
  geometry.description_offset = kHeaderBytes;
  geometry.buckets_offset = padded(kHeaderBytes + plan.description.size(), kPage);
  const uint64_t buckets = (geometry.bucket_count + kStashBuckets) * plan.bucket_slots * sizeof(Entry);
  geometry.extents_offset = padded(geometry.buckets_offset + buckets, kPage);
  geometry.file_bytes = std::min(kMaxOffset, geometry.extents_offset + padded(plan.extents_bytes, kPage));
  return geometry;
}

uint64_t extents_for(uint64_t rows, uint64_t record) {
  return (rows + rows / 8 + kWaiting) * bytes_of_class(class_of(record));
}

uint8_t* begin_record(std::span<uint8_t> image, std::string_view key, uint32_t payload, bool has_nulls) noexcept {
  const RecordHeader header{static_cast<uint32_t>(payload | (key.size() << kPayloadBits)), has_nulls ? kHasNulls : 0};
  uint8_t* at = image.data();
  std::memset(at, 0, image.size());
  std::memcpy(at, &header, sizeof(header));
  std::memcpy(at + sizeof(header), key.data(), key.size());
  return at + sizeof(header) + padded(key.size(), sizeof(uint64_t));
}

void encode_record(std::span<uint8_t> image, std::string_view key, std::string_view payload, bool has_nulls) {
  uint8_t* at = begin_record(image, key, static_cast<uint32_t>(payload.size()), has_nulls);
  if (!payload.empty()) std::memcpy(at, payload.data(), payload.size());
}

Writer::Writer(uint8_t* memory, WriterState* state)
    : header_(reinterpret_cast<Header*>(memory)),
      memory_(memory),
      entries_(reinterpret_cast<Entry*>(memory + header_->buckets_offset)),
      state_(state) {}

Writer Writer::create(uint8_t* memory, const Plan& plan, WriterState* state) {
  const Geometry geometry = geometry_of(plan);
  auto& header = *reinterpret_cast<Header*>(memory);
  header.magic = kMagic;
  header.version = kVersion;
  header.header_bytes = kHeaderBytes;
  header.region_id = plan.region_id;
  header.schema_hash = crc64(plan.description.data(), plan.description.size());
  header.seeds[0] = plan.seeds[0];
  header.seeds[1] = plan.seeds[1];
  header.checksum_kind = static_cast<uint32_t>(plan.checksum_kind);
  header.bucket_slots = plan.bucket_slots;
  header.bucket_count = geometry.bucket_count;
  header.buckets_offset = geometry.buckets_offset;
  header.description_offset = geometry.description_offset;
  header.description_bytes = plan.description.size();
  header.extents_offset = geometry.extents_offset;
  header.file_bytes = geometry.file_bytes;
  header.max_rows = plan.max_rows;
  header.epoch = plan.epoch;
  header.extents_end = geometry.extents_offset;
  header.checksum = crc64(&header, offsetof(Header, checksum));
  if (!plan.description.empty())
    std::memcpy(memory + geometry.description_offset, plan.description.data(), plan.description.size());
  state->grown_end = geometry.extents_offset;
  state->random = static_cast<uint32_t>(plan.region_id) | 1;
  return {memory, state};
}

// Extents

Result<uint64_t> Writer::reserve(uint64_t bytes) {
  const uint32_t size_class = class_of(bytes);
  const uint64_t size = bytes_of_class(size_class);
  let_go(now_us());
  ExtentLists extents = lists();
  if (const auto found = extents.take(size_class); found.has_value()) return *found;
  const uint64_t offset = header_->extents_end;
  if (extents.merge_if_worth_it(offset - header_->extents_offset))
    if (const auto found = extents.take(size_class); found.has_value()) return *found;
  if (offset + size > header_->file_bytes) {
    // Only extents that wait for readers are left. Readers detect that an extent is used again.
    let_go(UINT64_MAX);
    extents.merge();
    if (const auto found = extents.take(size_class); found.has_value()) return *found;
    return Status(ErrorCode::kOverBudget, "the published region of a store table is full");
  }
  if (offset + size > state_->grown_end) {
    const uint64_t end = std::min(header_->file_bytes, padded(offset + size, kGrowBytes));
    if (grow_ != nullptr && !grow_(grow_context_, state_->grown_end, end - state_->grown_end))
      return Status(ErrorCode::kOutOfMemory, "no memory is left for the published region of a store table");
    state_->grown_end = end;
  }
  store_word(&header_->extents_end, offset + size);
  return offset;
}

void Writer::release(uint64_t offset, uint64_t bytes) { add_free(offset, bytes_of_class(class_of(bytes))); }

void Writer::add_free(uint64_t offset, uint64_t bytes) noexcept {
  auto* words = reinterpret_cast<uint64_t*>(memory_ + offset);
  for (uint64_t i = 0; i < bytes / sizeof(uint64_t); ++i) store_word(words + i, uint64_t{0});
  lists().give(offset, class_of(bytes));
}

void Writer::retire(const Entry& entry, uint64_t now) noexcept {
  const uint64_t offset = unpack_place(entry.place).offset;
  const RecordHeader& header = *record_at(offset);
  const uint64_t bytes = bytes_of_class(class_of(record_bytes(key_bytes(header), payload_bytes(header))));
  if (state_->wait_end - state_->wait_begin == kWaiting) {
    const WaitingExtent& oldest = state_->waiting[state_->wait_begin++ % kWaiting];
    add_free(oldest.offset, oldest.bytes);
  }
  state_->waiting[state_->wait_end++ % kWaiting] = {offset, bytes, now};
}

void Writer::let_go(uint64_t now) noexcept {
  while (state_->wait_begin != state_->wait_end) {
    const WaitingExtent& oldest = state_->waiting[state_->wait_begin % kWaiting];
    if (now < oldest.since_us + kGraceUs) return;
    ++state_->wait_begin;
    add_free(oldest.offset, oldest.bytes);
  }
}

Status Writer::reserve_row() {
  if (header_->rows + state_->reserved_rows >= header_->max_rows)
    return {ErrorCode::kOverBudget, "a store table has " + std::to_string(header_->max_rows) + " rows already"};
  ++state_->reserved_rows;
  return Status::ok();
}

// The index

void Writer::set_entry(Spot spot, uint64_t place, uint64_t sum) noexcept {
  store_entry(entry_at(spot), {place, proof_of(sum, place, spot.bucket, header_->region_id)});
}

bool Writer::find_in_bucket(uint64_t bucket, const KeyHash& hash, std::string_view key, Spot* spot) const {
  for (uint32_t slot = 0; slot < header_->bucket_slots; ++slot) {
    const Entry& entry = *entry_at({bucket, slot});
    const Place place = unpack_place(entry.place);
    if (entry.place == 0 || place.fingerprint != hash.fingerprint) continue;
    const RecordHeader& header = *record_at(place.offset);
    if (key_bytes(header) != key.size() || std::memcmp(&header + 1, key.data(), key.size()) != 0) continue;
    *spot = {bucket, slot};
    return true;
  }
  return false;
}

bool Writer::find_key(const KeyHash& hash, std::string_view key, Spot* spot) const {
  for (const uint64_t bucket : hash.buckets)
    if (find_in_bucket(bucket, hash, key, spot)) return true;
  if (header_->stash_rows == 0) return false;
  for (uint64_t i = 0; i < kStashBuckets; ++i)
    if (find_in_bucket(header_->bucket_count + i, hash, key, spot)) return true;
  return false;
}

void Writer::fetch_buckets(std::string_view key) const {
  for (const uint64_t bucket : locate(*header_, key.data(), key.size()).buckets)
    __builtin_prefetch(entry_at({bucket, 0}), 1);
}

void Writer::fetch_record(std::string_view key) const {
  const KeyHash hash = locate(*header_, key.data(), key.size());
  for (const uint64_t bucket : hash.buckets)
    for (uint32_t slot = 0; slot < header_->bucket_slots; ++slot) {
      const Entry& entry = *entry_at({bucket, slot});
      const Place place = unpack_place(entry.place);
      if (entry.place == 0 || place.fingerprint != hash.fingerprint) continue;
      __builtin_prefetch(record_at(place.offset));
      return;
    }
}

bool Writer::empty_in_bucket(uint64_t bucket, Spot* spot) const {
  for (uint32_t slot = 0; slot < header_->bucket_slots; ++slot)
    if (entry_at({bucket, slot})->place == 0) {
      *spot = {bucket, slot};
      return true;
    }
  return false;
}

KeyHash Writer::hash_of_entry(const Entry& entry) const {
  const RecordHeader& header = *record_at(unpack_place(entry.place).offset);
  return locate(*header_, &header + 1, key_bytes(header));
}

bool Writer::make_room(const KeyHash& hash, Spot* spot) noexcept {
  for (const uint64_t bucket : hash.buckets)
    if (empty_in_bucket(bucket, spot)) return true;
  // Random walks, short ones first. Nothing moves before a walk has found an empty slot. Then the last entry moves
  // first, so that a key is in two places for a moment, but is never missing.
  constexpr int kWalks = 2000;
  for (int walk = 0; walk < kWalks; ++walk) {
    Path path;
    uint64_t bucket = hash.buckets[state_->random % kWays];
    while (path.length < Path::kMost) {
      state_->random = state_->random * 1664525 + 1013904223;
      const uint32_t random = state_->random >> 8;
      const uint32_t slot = random % header_->bucket_slots;
      path.steps[path.length++] = {bucket, slot};
      const KeyHash other = hash_of_entry(*entry_at({bucket, slot}));
      bool found = false;
      Spot empty;
      for (const uint64_t next : other.buckets) found = found || empty_in_bucket(next, &empty);
      if (found) {
        const Path::Step first = path.steps[0];
        if (path.length == Path::kMost) break;
        path.steps[path.length] = {empty.bucket, empty.slot};
        move_along(path);
        *spot = {first.bucket, first.slot};
        return true;
      }
      bucket = other.buckets[(random >> 4) % kWays];
      const bool again = std::any_of(path.steps, path.steps + path.length,
                                     [bucket](const Path::Step& step) { return step.bucket == bucket; });
      if (again) break;
    }
  }
  return false;
}

void Writer::move_along(const Path& path) noexcept {
  store_word(&header_->moves, header_->moves + 1, __ATOMIC_SEQ_CST);
  for (int i = path.length; i > 0; --i) {
    const Spot from{path.steps[i - 1].bucket, path.steps[i - 1].slot}, to{path.steps[i].bucket, path.steps[i].slot};
    const Entry entry = *entry_at(from);
    const uint64_t sum = entry.proof ^ proof_of(0, entry.place, from.bucket, header_->region_id);
    set_entry(to, entry.place, sum);
  }
  store_word(&header_->moves, header_->moves + 1, __ATOMIC_SEQ_CST);
}

uint32_t Writer::publish(std::span<uint8_t> image, uint64_t offset, bool is_reserved_row) noexcept {
  const uint32_t generation = state_->generation = state_->generation % kMaxGeneration + 1;
  auto& record = *reinterpret_cast<RecordHeader*>(image.data());
  record.version = (record.version & kHasNulls) | generation;
  const uint64_t sum = sum_of(*header_, image.data(), image.size());
  const std::string_view key(reinterpret_cast<const char*>(&record + 1), key_bytes(record));
  const KeyHash hash = locate(*header_, key.data(), key.size());
  const uint64_t place = pack_place(offset, image.size(), hash.fingerprint);
  copy_words_to(memory_ + offset, image.data(), image.size());
  Spot spot;
  if (find_key(hash, key, &spot)) {
    const Entry before = *entry_at(spot);
    set_entry(spot, place, sum);
    retire(before, now_us());
    if (is_reserved_row) --state_->reserved_rows;
    return generation;
  }
  bool is_placed = make_room(hash, &spot);
  for (uint64_t i = 0; i < kStashBuckets && !is_placed; ++i)
    if (empty_in_bucket(header_->bucket_count + i, &spot)) {
      is_placed = true;
      store_word(&header_->stash_rows, header_->stash_rows + 1, __ATOMIC_SEQ_CST);
    }
  if (is_reserved_row) --state_->reserved_rows;
  if (is_placed) {
    set_entry(spot, place, sum);
    store_word(&header_->rows, header_->rows + 1);
  } else {
    // Somebody has chosen keys that collide. The region has to be made again, with other seeds.
    set_state(State::kMoved);
  }
  return generation;
}

bool Writer::erase(std::string_view key) noexcept {
  const KeyHash hash = locate(*header_, key.data(), key.size());
  Spot spot;
  if (!find_key(hash, key, &spot)) return false;
  const Entry before = *entry_at(spot);
  store_entry(entry_at(spot), {0, 0});
  if (spot.bucket >= header_->bucket_count) store_word(&header_->stash_rows, header_->stash_rows - 1, __ATOMIC_RELEASE);
  store_word(&header_->rows, header_->rows - 1);
  retire(before, now_us());
  return true;
}

const RecordHeader* Writer::find(std::string_view key) const {
  Spot spot;
  if (!find_key(locate(*header_, key.data(), key.size()), key, &spot)) return nullptr;
  return record_at(unpack_place(entry_at(spot)->place).offset);
}

}  // namespace strom::store::region
