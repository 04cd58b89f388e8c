// Gets from a region that is mapped read-only, while the server changes it: one-sided, without a lock and without the
// server. Used by client libraries, by `strom-kv` and by tests. Does not allocate and does not throw.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.hpp"
#include "store/region/format.hpp"

namespace strom::store::region {

enum class GetResult : uint8_t {
  kFound,
  kNotFound,
  kSmallBuffer,  // `Value::bytes` is the required number
  kUnstable,     // the key changed during every attempt: ask the server
  kMoved,        // another region has replaced it: attach again
  kFailed,       // of FarReader: its transport has failed
};

/// The result of a read. The memory belongs to the caller.
struct Value {
  void* buffer = nullptr;  // aligned to 8 bytes
  size_t capacity = 0;     // at least record_bytes() of key and payload
  size_t bytes = 0;        // of the payload
  const void* payload = nullptr;
  uint32_t generation = 0;
  bool has_nulls = false;  // the payload begins with a bitmap of NULLs
  bool is_found = false;
  GetResult result = GetResult::kNotFound;
};

struct Key {
  const void* data;
  size_t bytes;
};

/// Points a value to the payload of a record, whose sizes have been checked. Returns the record's key.
inline Key open_record(const void* record, Value& value) {
  const auto& header = *static_cast<const RecordHeader*>(record);
  const Key key{&header + 1, key_bytes(header)};
  value.payload = static_cast<const uint8_t*>(key.data) + padded(key.bytes, sizeof(uint64_t));
  value.bytes = payload_bytes(header);
  value.generation = generation_of(header);
  value.has_nulls = has_nulls(header);
  return key;
}

/// Counts the reads that a one-sided reader over a network would have done.
struct ReaderCounts {
  uint64_t gets = 0, bucket_reads = 0, record_reads = 0, retries = 0;
};

/// The view of a region for one thread.
class Reader {
 public:
  /// Checks only the header. `memory` is the whole region, page-aligned, and stays mapped. Errors: kCorruptFile,
  /// kUnsupported (an unknown version or kind of checksum).
  static Result<Reader> attach(const void* memory, uint64_t bytes);

  GetResult get(Key key, Value& value);
  /// get() for several keys, whose memory is prefetched together. Sets each value's `result`.
  void get_many(const Key* keys, Value* values, size_t count);

  /// Reads the record of an entry, for scans; kNotFound: the entry is unused. `key` points into the value's buffer.
  GetResult read_entry(uint64_t bucket, uint32_t slot, Value& value, Key* key);

  State state() const { return static_cast<State>(load_word(&header_->state, __ATOMIC_ACQUIRE)); }
  const Header& header() const { return *header_; }
  const uint8_t* memory() const { return memory_; }
  const ReaderCounts& counts() const { return counts_; }

  /// Attempts before kUnstable.
  static constexpr int kAttempts = 1000;

 private:
  enum class Probe : uint8_t { kFound, kAbsent, kTorn, kSmallBuffer };

  Reader(const Header* header, uint64_t bytes)
      : header_(header),
        memory_(reinterpret_cast<const uint8_t*>(header)),
        bytes_(bytes),
        region_id_(header->region_id),
        bucket_slots_(header->bucket_slots),
        entries_(reinterpret_cast<const Entry*>(memory_ + header->buckets_offset)) {}

  GetResult get_at(const KeyHash& hash, Key key, Value& value);
  Probe probe_all(const KeyHash& hash, Key key, Value& value);
  Probe probe(uint64_t bucket, uint32_t fingerprint, Key key, Value& value);
  const Entry* bucket_at(uint64_t bucket) const { return entries_ + bucket * bucket_slots_; }
  Probe read_record(const Entry& entry, uint64_t bucket, Key key, Value& value);
  Probe copy_record(const Entry& entry, uint64_t bucket, Value& value);

  const Header* header_;
  const uint8_t* memory_;
  uint64_t bytes_;
  uint64_t region_id_;
  uint32_t bucket_slots_;
  const Entry* entries_;
  ReaderCounts counts_;
};

/// Errors of a header that cannot be used; see Reader::attach().
Status check_header(const void* memory, uint64_t bytes);

}  // namespace strom::store::region
