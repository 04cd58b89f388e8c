// Checks every entry and record of a published region. Used by `strom-kv verify`, `pgstrom.store_check()` and tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/status.hpp"
#include "store/region/format.hpp"

namespace strom::store::region {

struct CheckCounts {
  uint64_t rows = 0, payload_bytes = 0, record_bytes = 0;
  uint64_t first_bucket = 0, second_bucket = 0, third_bucket = 0, stash = 0;  // number of keys found in each
};

using EachRecord = std::function<Status(std::string_view key, std::string_view payload, bool has_nulls)>;

/// The parts of check(), for callers that let writers in between two of them. Nobody may change the region during a
/// call. Between two calls rows may come and go, and entries move to other buckets.
class Checking {
 public:
  /// check_header() has accepted the region. `each` must outlive this object.
  Checking(const void* memory, uint64_t bytes, const EachRecord& each)
      : header_(*static_cast<const Header*>(memory)),
        memory_(static_cast<const uint8_t*>(memory)),
        bytes_(bytes),
        each_(each) {}

  /// The number of buckets, with those of the stash.
  uint64_t buckets() const { return header_.bucket_count + kStashBuckets; }
  Status check_bucket(uint64_t bucket);
  /// Checks the entry of a row, which must be there once.
  Status check_key(std::string_view key);
  /// Compares what was counted with what the header counts. Only if nobody has written since the first bucket.
  Status check_counts() const;

  const CheckCounts& counts() const { return counts_; }

 private:
  Status check_entry(uint64_t bucket, uint32_t slot);
  bool count_way(const KeyHash& hash, uint64_t bucket);
  uint64_t entry_offset(uint64_t bucket, uint32_t slot) const {
    return header_.buckets_offset + (bucket * header_.bucket_slots + slot) * sizeof(Entry);
  }
  bool is_entry_of(std::string_view key, const KeyHash& hash, uint64_t bucket, uint32_t slot) const;

  const Header& header_;
  const uint8_t* memory_;
  uint64_t bytes_;
  const EachRecord& each_;
  CheckCounts counts_;
};

/// Checks the region, which nobody may change meanwhile. Errors: kCorruptFile, which names the bucket, the slot and the
/// offset. `each` may be empty; its first failure ends the check.
Result<CheckCounts> check(const void* memory, uint64_t bytes, const EachRecord& each = {});

}  // namespace strom::store::region
