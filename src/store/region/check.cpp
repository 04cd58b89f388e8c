#include "store/region/check.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "store/checksum.hpp"
#include "store/region/reader.hpp"

namespace strom::store::region {

namespace {

Status wrong(uint64_t bucket, uint32_t slot, uint64_t offset, const char* what) {
  return {ErrorCode::kCorruptFile, "published region: entry " + std::to_string(slot) + " of bucket " +
                                       std::to_string(bucket) + " " + what + " (offset " + std::to_string(offset) +
                                       ")"};
}

}  // namespace

Status Checking::check_entry(uint64_t bucket, uint32_t slot) {
  const uint64_t at = entry_offset(bucket, slot);
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
  ++counts_.rows;
  counts_.record_bytes += size;
  counts_.payload_bytes += payload_bytes(record);
  if (!each_) return Status::ok();
  const char* payload = key + padded(key_bytes(record), sizeof(uint64_t));
  return each_({key, key_bytes(record)}, {payload, payload_bytes(record)}, has_nulls(record));
}

bool Checking::count_way(const KeyHash& hash, uint64_t bucket) {
  if (bucket >= header_.bucket_count) return ++counts_.stash != 0;
  if (hash.buckets[0] == bucket) return ++counts_.first_bucket != 0;
  if (hash.buckets[1] == bucket) return ++counts_.second_bucket != 0;
  if (hash.buckets[2] == bucket) return ++counts_.third_bucket != 0;
  return false;
}

bool Checking::is_entry_of(std::string_view key, const KeyHash& hash, uint64_t bucket, uint32_t slot) const {
  const auto& entry = *reinterpret_cast<const Entry*>(memory_ + entry_offset(bucket, slot));
  const Place place = unpack_place(entry.place);
  if (entry.place == 0 || place.fingerprint != hash.fingerprint) return false;
  if (place.offset < header_.extents_offset || place.offset + sizeof(RecordHeader) + key.size() > bytes_) return false;
  const auto& record = *reinterpret_cast<const RecordHeader*>(memory_ + place.offset);
  return key_bytes(record) == key.size() && std::memcmp(&record + 1, key.data(), key.size()) == 0;
}

Status Checking::check_bucket(uint64_t bucket) {
  for (uint32_t slot = 0; slot < header_.bucket_slots; ++slot) STROM_TRY(check_entry(bucket, slot));
  return Status::ok();
}

Status Checking::check_key(std::string_view key) {
  const KeyHash hash = locate(header_, key.data(), key.size());
  uint64_t places[kWays + kStashBuckets];
  std::copy(hash.buckets, hash.buckets + kWays, places);
  for (uint64_t i = 0; i < kStashBuckets; ++i) places[kWays + i] = header_.bucket_count + i;
  const size_t count = header_.stash_rows == 0 ? kWays : std::size(places);
  const CheckCounts before = counts_;
  uint32_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    // Two of the ways may lead to one bucket.
    if (std::find(places, places + i, places[i]) != places + i) continue;
    for (uint32_t slot = 0; slot < header_.bucket_slots; ++slot) {
      if (!is_entry_of(key, hash, places[i], slot)) continue;
      STROM_TRY(check_entry(places[i], slot));
      if (++found > 1) return wrong(places[i], slot, entry_offset(places[i], slot), "has a key that is there twice");
    }
  }
  counts_ = before;
  if (found == 0) return Status(ErrorCode::kCorruptFile, "published region: a row is missing");
  return Status::ok();
}

Status Checking::check_counts() const {
  if (counts_.rows != header_.rows)
    return Status(ErrorCode::kCorruptFile, "published region: there are " + std::to_string(counts_.rows) +
                                               " rows, but the header counts " + std::to_string(header_.rows));
  if (counts_.stash != header_.stash_rows)
    return Status(ErrorCode::kCorruptFile, "published region: wrong number of rows behind the buckets");
  return Status::ok();
}

Result<CheckCounts> check(const void* memory, uint64_t bytes, const EachRecord& each) {
  STROM_TRY(check_header(memory, bytes));
  Checking checking(memory, bytes, each);
  for (uint64_t bucket = 0; bucket < checking.buckets(); ++bucket) STROM_TRY(checking.check_bucket(bucket));
  STROM_TRY(checking.check_counts());
  return checking.counts();
}

}  // namespace strom::store::region
