#include "store/region/reader.hpp"

#include <sched.h>

#include <algorithm>
#include <string>

#include "store/checksum.hpp"

namespace strom::store::region {

namespace {

Status damaged(const char* what) {
  return {ErrorCode::kCorruptFile, std::string("the header of a published region is damaged: ") + what};
}

void prefetch(const void* address) { __builtin_prefetch(address); }

}  // namespace

Status check_header(const void* memory, uint64_t bytes) {
  if (bytes < kHeaderBytes) return damaged("it is too short");
  const auto& header = *static_cast<const Header*>(memory);
  if (header.magic != kMagic) return damaged("wrong magic number");
  if (header.version != kVersion)
    return {ErrorCode::kUnsupported, "a published region of version " + std::to_string(header.version) +
                                         " cannot be read, only version " + std::to_string(kVersion)};
  if (header.checksum != crc64(&header, offsetof(Header, checksum))) return damaged("wrong checksum");
  if (header.checksum_kind != static_cast<uint32_t>(ChecksumKind::kCrc64) &&
      header.checksum_kind != static_cast<uint32_t>(ChecksumKind::kXxh3))
    return {ErrorCode::kUnsupported, "a published region has checksums of kind " +
                                         std::to_string(header.checksum_kind) + ", which are not known"};
  if (header.bucket_slots != 1 && header.bucket_slots != kSlots) return damaged("odd number of slots");
  if (header.file_bytes > bytes || header.file_bytes > kMaxOffset) return damaged("it is shorter than it says");
  const uint64_t bucket_bytes = header.bucket_slots * sizeof(Entry);
  const uint64_t most = header.file_bytes / bucket_bytes;
  if (header.bucket_count == 0 || header.bucket_count > most || header.buckets_offset % kLineBytes != 0 ||
      header.buckets_offset < kHeaderBytes || header.buckets_offset > header.file_bytes ||
      header.extents_offset > header.file_bytes || header.extents_offset % kUnit != 0 ||
      header.extents_offset < header.buckets_offset + (header.bucket_count + kStashBuckets) * bucket_bytes ||
      header.description_offset < kHeaderBytes || header.description_offset > header.buckets_offset ||
      header.description_bytes > header.buckets_offset - header.description_offset)
    return damaged("parts lie outside of it");
  return Status::ok();
}

Result<Reader> Reader::attach(const void* memory, uint64_t bytes) {
  STROM_TRY(check_header(memory, bytes));
  return Reader(static_cast<const Header*>(memory), bytes);
}

GetResult Reader::get(Key key, Value& value) { return get_at(locate(*header_, key.data, key.bytes), key, value); }

GetResult Reader::get_at(const KeyHash& hash, Key key, Value& value) {
  constexpr int kPatience = 16;  // attempts before it yields the processor
  ++counts_.gets;
  value.is_found = false;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (state() != State::kReady) return value.result = GetResult::kMoved;
    const uint64_t moves = load_word(&header_->moves, __ATOMIC_ACQUIRE);
    switch (probe_all(hash, key, value)) {
      case Probe::kFound: value.is_found = true; return value.result = GetResult::kFound;
      case Probe::kSmallBuffer: return value.result = GetResult::kSmallBuffer;
      case Probe::kAbsent:
        // The loads of the buckets precede these, because they acquire. A region is zeroed after its state has changed,
        // so that zeros may be read in place of the key's entry.
        if (moves % 2 == 0 && load_word(&header_->moves, __ATOMIC_ACQUIRE) == moves && state() == State::kReady)
          return value.result = GetResult::kNotFound;
        break;
      case Probe::kTorn: break;
    }
    ++counts_.retries;
    if (attempt >= kPatience) sched_yield();
  }
  return value.result = GetResult::kUnstable;
}

Reader::Probe Reader::probe_all(const KeyHash& hash, Key key, Value& value) {
  for (const uint64_t bucket : hash.buckets)
    if (const Probe found = probe(bucket, hash.fingerprint, key, value); found != Probe::kAbsent) return found;
  if (load_word(&header_->stash_rows, __ATOMIC_ACQUIRE) == 0) return Probe::kAbsent;
  for (uint64_t i = 0; i < kStashBuckets; ++i)
    if (const Probe found = probe(header_->bucket_count + i, hash.fingerprint, key, value); found != Probe::kAbsent)
      return found;
  return Probe::kAbsent;
}

Reader::Probe Reader::probe(uint64_t bucket, uint32_t fingerprint, Key key, Value& value) {
  ++counts_.bucket_reads;
  const Entry* entries = bucket_at(bucket);
  for (uint32_t i = 0; i < bucket_slots_; ++i) {
    const uint64_t place = load_word(&entries[i].place, __ATOMIC_ACQUIRE);
    if (place == 0 || unpack_place(place).fingerprint != fingerprint) continue;
    const Entry entry{place, load_word(&entries[i].proof, __ATOMIC_ACQUIRE)};
    if (const Probe found = read_record(entry, bucket, key, value); found != Probe::kAbsent) return found;
  }
  return Probe::kAbsent;
}

/// Copies a record into the value's buffer. It must be complete and belong to the entry.
Reader::Probe Reader::copy_record(const Entry& entry, uint64_t bucket, Value& value) {
  const Place place = unpack_place(entry.place);
  if (place.offset < header_->extents_offset || place.offset > bytes_ - kUnit) return Probe::kTorn;
  const uint8_t* from = memory_ + place.offset;
  uint64_t bytes = place.bytes;
  if (bytes == 0) {
    RecordHeader header;
    copy_words_from(&header, from, sizeof(header));
    bytes = record_bytes(key_bytes(header), payload_bytes(header));
  }
  if (bytes > bytes_ - place.offset) return Probe::kTorn;
  ++counts_.record_reads;
  if (bytes > value.capacity) {
    // The sizes may be torn, because they are not verified yet. A wrong size only makes the caller use a larger buffer.
    value.bytes = bytes;
    return Probe::kSmallBuffer;
  }
  copy_words_from(value.buffer, from, bytes);
  const uint64_t sum = sum_of(*header_, value.buffer, bytes);
  if (entry.proof != proof_of(sum, entry.place, bucket, region_id_)) return Probe::kTorn;
  const auto& header = *static_cast<const RecordHeader*>(value.buffer);
  return record_bytes(key_bytes(header), payload_bytes(header)) > bytes ? Probe::kTorn : Probe::kFound;
}

Reader::Probe Reader::read_record(const Entry& entry, uint64_t bucket, Key key, Value& value) {
  if (const Probe copied = copy_record(entry, bucket, value); copied != Probe::kFound) return copied;
  const auto& header = *static_cast<const RecordHeader*>(value.buffer);
  const auto* read_key = static_cast<const uint8_t*>(value.buffer) + sizeof(RecordHeader);
  if (key_bytes(header) != key.bytes || std::memcmp(read_key, key.data, key.bytes) != 0) return Probe::kAbsent;
  open_record(value.buffer, value);
  return Probe::kFound;
}

GetResult Reader::read_entry(uint64_t bucket, uint32_t slot, Value& value, Key* key) {
  constexpr int kPatience = 16;
  const Entry* at = bucket_at(bucket) + slot;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (state() != State::kReady) return GetResult::kMoved;
    const Entry entry{load_word(&at->place, __ATOMIC_ACQUIRE), load_word(&at->proof, __ATOMIC_ACQUIRE)};
    // Zeros may also be those of a region that has been retired since, as in get_at().
    if (entry.place == 0) return state() == State::kReady ? GetResult::kNotFound : GetResult::kMoved;
    const Probe copied = copy_record(entry, bucket, value);
    if (copied == Probe::kSmallBuffer) return GetResult::kSmallBuffer;
    if (copied == Probe::kFound) {
      *key = open_record(value.buffer, value);
      return GetResult::kFound;
    }
    ++counts_.retries;
    if (attempt >= kPatience) sched_yield();
  }
  return GetResult::kUnstable;
}

void Reader::get_many(const Key* keys, Value* values, size_t count) {
  constexpr size_t kTogether = 16;
  constexpr uint64_t kMaxLines = 8;
  KeyHash hashes[kTogether];
  for (size_t begin = 0; begin < count; begin += kTogether) {
    const size_t part = std::min(kTogether, count - begin);
    for (size_t i = 0; i < part; ++i) {
      hashes[i] = locate(*header_, keys[begin + i].data, keys[begin + i].bytes);
      prefetch(bucket_at(hashes[i].buckets[0]));
    }
    for (size_t i = 0; i < part; ++i) {
      bool is_there = false;
      for (uint32_t slot = 0; slot < bucket_slots_; ++slot) {
        const Place place = unpack_place(load_word(&bucket_at(hashes[i].buckets[0])[slot].place));
        if (place.fingerprint != hashes[i].fingerprint || place.offset == 0 || place.offset >= bytes_) continue;
        is_there = true;
        const uint64_t lines = std::min(kMaxLines, (place.bytes + kLineBytes - 1) / kLineBytes + 1);
        for (uint64_t line = 0; line < lines; ++line) prefetch(memory_ + place.offset + line * kLineBytes);
      }
      if (!is_there) prefetch(bucket_at(hashes[i].buckets[1]));
    }
    for (size_t i = 0; i < part; ++i) get_at(hashes[i], keys[begin + i], values[begin + i]);
  }
}

}  // namespace strom::store::region
