#include "store/region/check.hpp"

#include <string>

#include "store/checksum.hpp"
#include "store/region/reader.hpp"

namespace strom::store::region {

namespace {

class Checker {
 public:
  Checker(const void* memory, uint64_t bytes, const EachRecord& each)
      : header_(*static_cast<const Header*>(memory)),
        memory_(static_cast<const uint8_t*>(memory)),
        bytes_(bytes),
        each_(each) {}

  Status check_entry(uint64_t bucket, uint32_t slot) {
    const uint64_t at = header_.buckets_offset + (bucket * header_.bucket_slots + slot) * sizeof(Entry);
    const auto& entry = *reinterpret_cast<const Entry*>(memory_ + at);
    if (entry.place == 0) return entry.proof == 0 ? Status::ok() : wrong(bucket, slot, at, "is half empty");
    const Place place = unpack_place(entry.place);
    if (place.offset < header_.extents_offset || place.offset + kUnit > header_.extents_end ||
        header_.extents_end > bytes_)
      return wrong(bucket, slot, at, "points outside of the extents");
    const auto& record = *reinterpret_cast<const RecordHeader*>(memory_ + place.offset);
    const uint64_t size = record_bytes(key_bytes(record), payload_bytes(record));
    if (place.offset + size > header_.extents_end || (place.bytes != 0 && place.bytes != size))
      return wrong(bucket, slot, place.offset, "has a record of another length");
    const uint64_t sum = sum_of(header_, &record, size);
    if (entry.proof != proof_of(sum, entry.place, bucket, header_.region_id))
      return wrong(bucket, slot, place.offset, "has a wrong checksum");
    const auto* key = reinterpret_cast<const char*>(&record + 1);
    const KeyHash hash = locate(header_, key, key_bytes(record));
    if (hash.fingerprint != place.fingerprint) return wrong(bucket, slot, at, "has another key's fingerprint");
    if (!count_way(hash, bucket)) return wrong(bucket, slot, at, "is in a bucket where its key is not looked for");
    ++counts.rows;
    counts.record_bytes += size;
    counts.payload_bytes += payload_bytes(record);
    if (!each_) return Status::ok();
    const char* payload = key + padded(key_bytes(record), sizeof(uint64_t));
    return each_({key, key_bytes(record)}, {payload, payload_bytes(record)}, has_nulls(record));
  }

  CheckCounts counts;

 private:
  bool count_way(const KeyHash& hash, uint64_t bucket) {
    if (bucket >= header_.bucket_count) return ++counts.stash != 0;
    if (hash.buckets[0] == bucket) return ++counts.first_bucket != 0;
    if (hash.buckets[1] == bucket) return ++counts.second_bucket != 0;
    if (hash.buckets[2] == bucket) return ++counts.third_bucket != 0;
    return false;
  }

  static Status wrong(uint64_t bucket, uint32_t slot, uint64_t offset, const char* what) {
    return {ErrorCode::kCorruptFile, "published region: entry " + std::to_string(slot) + " of bucket " +
                                         std::to_string(bucket) + " " + what + " (offset " + std::to_string(offset) +
                                         ")"};
  }

  const Header& header_;
  const uint8_t* memory_;
  uint64_t bytes_;
  const EachRecord& each_;
};

}  // namespace

Result<CheckCounts> check(const void* memory, uint64_t bytes, const EachRecord& each) {
  STROM_TRY(check_header(memory, bytes));
  const auto& header = *static_cast<const Header*>(memory);
  Checker checker(memory, bytes, each);
  for (uint64_t bucket = 0; bucket < header.bucket_count + kStashBuckets; ++bucket)
    for (uint32_t slot = 0; slot < header.bucket_slots; ++slot) STROM_TRY(checker.check_entry(bucket, slot));
  if (checker.counts.rows != header.rows)
    return Status(ErrorCode::kCorruptFile, "published region: there are " + std::to_string(checker.counts.rows) +
                                               " rows, but the header counts " + std::to_string(header.rows));
  if (checker.counts.stash != header.stash_rows)
    return Status(ErrorCode::kCorruptFile, "published region: wrong number of rows behind the buckets");
  return checker.counts;
}

}  // namespace strom::store::region
