#include "store/region/far_reader.hpp"

#include <algorithm>
#include <cstring>

#include "store/checksum.hpp"

namespace strom::store::region {

namespace {

constexpr uint64_t kMostRecord = record_bytes(kMaxKey, kMaxPayload);
constexpr uint64_t kMostTogether = 1 << 20;  // bytes of records in one round trip, unless one record is larger

uint64_t size_of(const RecordHeader& header) { return record_bytes(key_bytes(header), payload_bytes(header)); }

}  // namespace

void FarReader::add_piece(std::vector<Piece>* pieces, uint64_t offset, uint64_t bytes, void* to) const {
  pieces->push_back({offset, static_cast<uint32_t>(bytes), to});
}

bool FarReader::read(std::vector<Piece>& pieces) {
  reach_ = transport_->read(pieces);
  return reach_ == Reach::kDone;
}

Reach FarReader::look() {
  std::vector<Piece> pieces;
  add_piece(&pieces, kLiveOffset, sizeof(live_), &live_);
  read(pieces);
  return reach_;
}

Result<FarReader> FarReader::attach(Transport* transport, Reach* reach, std::string* description) {
  alignas(Header) uint8_t page[kHeaderBytes] = {};
  const Piece all{0, kHeaderBytes, page};
  const auto gone = [] { return Status(ErrorCode::kIoError, "the region cannot be read"); };
  *reach = transport->read({&all, 1});
  if (*reach != Reach::kDone) return gone();
  Header header;
  std::memcpy(&header, page, sizeof(header));
  STROM_TRY(check_header(page, std::max<uint64_t>(header.file_bytes, kHeaderBytes)));
  FarReader reader(transport, header);
  std::memcpy(&reader.live_, page + kLiveOffset, sizeof(reader.live_));
  constexpr uint64_t kMostDescription = 4 << 20;
  if (header.description_bytes > kMostDescription)
    return Status(ErrorCode::kCorruptFile, "the description of the region's rows is too long");
  description->resize(header.description_bytes);
  const Piece text{header.description_offset, static_cast<uint32_t>(header.description_bytes), description->data()};
  *reach = transport->read({&text, 1});
  if (*reach != Reach::kDone) return gone();
  return reader;
}

void FarReader::find_candidates(size_t owner, const Entry* entries, uint64_t bucket, uint32_t fingerprint,
                                std::vector<Candidate>* candidates) const {
  for (uint32_t slot = 0; slot < header_.bucket_slots; ++slot) {
    const Entry& entry = entries[slot];
    const Place place = unpack_place(entry.place);
    if (entry.place == 0 || place.fingerprint != fingerprint) continue;
    candidates->push_back({owner, bucket, entry, place.bytes, 0, false});
  }
}

/// Reads the header, and the buckets of all keys that are not done, in one round trip. A stash in use takes another
/// one.
bool FarReader::read_buckets(const std::vector<Wanted>& wanted, std::vector<Candidate>* candidates) {
  const uint32_t slots = header_.bucket_slots;
  std::vector<Piece> pieces;
  entries_.resize(wanted.size() * kWays * slots + kStashBuckets * slots);
  Entry* stash = entries_.data() + wanted.size() * kWays * slots;
  const bool knows_stash = live_.stash_rows != 0;
  const uint64_t stash_offset = header_.buckets_offset + header_.bucket_count * bucket_bytes();
  add_piece(&pieces, kLiveOffset, sizeof(live_), &live_);
  for (size_t i = 0; i < wanted.size(); ++i)
    for (uint32_t way = 0; way < kWays && !wanted[i].is_done; ++way)
      add_piece(&pieces, header_.buckets_offset + wanted[i].hash.buckets[way] * bucket_bytes(), bucket_bytes(),
                &entries_[(i * kWays + way) * slots]);
  counts_.bucket_reads += pieces.size() - 1;
  if (knows_stash) add_piece(&pieces, stash_offset, kStashBuckets * bucket_bytes(), stash);
  if (!read(pieces)) return false;
  const bool has_stash = live_.stash_rows != 0;
  if (has_stash && !knows_stash) {
    pieces.clear();
    add_piece(&pieces, stash_offset, kStashBuckets * bucket_bytes(), stash);
    if (!read(pieces)) return false;
  }
  candidates->clear();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].is_done) continue;
    const KeyHash& hash = wanted[i].hash;
    for (uint32_t way = 0; way < kWays; ++way)
      find_candidates(i, &entries_[(i * kWays + way) * slots], hash.buckets[way], hash.fingerprint, candidates);
    for (uint64_t bucket = 0; bucket < kStashBuckets && (has_stash || knows_stash); ++bucket)
      find_candidates(i, stash + bucket * slots, header_.bucket_count + bucket, hash.fingerprint, candidates);
  }
  return true;
}

/// Reads the candidates' records into arena_. With `looks`, the header is read as well, after everything before.
bool FarReader::read_records(std::vector<Candidate>& candidates, bool looks) {
  std::vector<Piece> pieces;
  // The entry does not contain the length of a long record; the record's header does.
  std::vector<RecordHeader> headers(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    Candidate& candidate = candidates[i];
    const uint64_t offset = unpack_place(candidate.entry.place).offset;
    candidate.is_torn = offset < header_.extents_offset || offset > header_.file_bytes - kUnit;
    if (candidate.bytes == 0 && !candidate.is_torn) add_piece(&pieces, offset, sizeof(RecordHeader), &headers[i]);
  }
  if (!pieces.empty() && !read(pieces)) return false;
  size_t words = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    Candidate& candidate = candidates[i];
    if (candidate.bytes == 0) candidate.bytes = size_of(headers[i]);
    const uint64_t offset = unpack_place(candidate.entry.place).offset;
    candidate.is_torn =
        candidate.is_torn || candidate.bytes > kMostRecord || candidate.bytes > header_.file_bytes - offset;
    candidate.at = words;
    if (!candidate.is_torn) words += candidate.bytes / sizeof(uint64_t);
  }
  arena_.resize(words);
  pieces.clear();
  uint64_t together = 0;
  for (const Candidate& candidate : candidates) {
    if (candidate.is_torn) continue;
    if (together + candidate.bytes > kMostTogether && !pieces.empty()) {
      if (!read(pieces)) return false;
      pieces.clear();
      together = 0;
    }
    add_piece(&pieces, unpack_place(candidate.entry.place).offset, candidate.bytes, &arena_[candidate.at]);
    together += candidate.bytes;
    ++counts_.record_reads;
  }
  if (looks) add_piece(&pieces, kLiveOffset, sizeof(live_), &live_);
  return pieces.empty() || read(pieces);
}

bool FarReader::is_whole(const Candidate& candidate) const {
  if (candidate.is_torn) return false;
  const uint64_t* record = &arena_[candidate.at];
  const uint64_t sum = sum_of(header_, record, candidate.bytes);
  if (candidate.entry.proof != proof_of(sum, candidate.entry.place, candidate.bucket, header_.region_id)) return false;
  RecordHeader header;
  std::memcpy(&header, record, sizeof(header));
  return size_of(header) <= candidate.bytes;
}

/// True if a complete record has the key. The value then gets the record, or the room that it needs.
bool FarReader::settle(const Candidate& candidate, Key key, Value& value) const {
  const auto* record = reinterpret_cast<const uint8_t*>(&arena_[candidate.at]);
  RecordHeader header;
  std::memcpy(&header, record, sizeof(header));
  if (key_bytes(header) != key.bytes || std::memcmp(record + sizeof(header), key.data, key.bytes) != 0) return false;
  if (candidate.bytes > value.capacity) {
    value.bytes = candidate.bytes;
    value.result = GetResult::kSmallBuffer;
    return true;
  }
  std::memcpy(value.buffer, record, candidate.bytes);
  open_record(value.buffer, value);
  value.is_found = true;
  value.result = GetResult::kFound;
  return true;
}

/// True if a key that is not done has no candidate.
bool FarReader::finds_nothing(const std::vector<Wanted>& wanted, const std::vector<Candidate>& candidates) {
  std::vector<char> has_one(wanted.size());
  for (const Candidate& candidate : candidates) has_one[candidate.owner] = 1;
  for (size_t i = 0; i < wanted.size(); ++i)
    if (!wanted[i].is_done && has_one[i] == 0) return true;
  return false;
}

/// One attempt for the keys that are not done. kUnstable: some keys need another attempt.
GetResult FarReader::try_all(const Key* keys, Value* values, std::vector<Wanted>* wanted) {
  // This is from an earlier round trip: within one, a transport may read in any order.
  const uint64_t moves = live_.moves;
  std::vector<Candidate> candidates;
  if (!read_buckets(*wanted, &candidates)) return GetResult::kFailed;
  if (!is_ready()) return GetResult::kMoved;
  // Only for a key that was not found it matters whether entries have moved meanwhile.
  const bool looks = finds_nothing(*wanted, candidates);
  if (!read_records(candidates, looks)) return GetResult::kFailed;
  std::vector<char> is_torn(wanted->size());
  for (const Candidate& candidate : candidates) {
    const size_t i = candidate.owner;
    Wanted& own = (*wanted)[i];
    if (own.is_done) continue;
    if (is_whole(candidate))
      own.is_done = settle(candidate, keys[i], values[i]);
    else
      is_torn[i] = 1;
  }
  const auto is_open = [](const Wanted& own) { return !own.is_done; };
  if (std::none_of(wanted->begin(), wanted->end(), is_open)) return GetResult::kFound;
  // A key is also missing if its candidate's record has another key with the same fingerprint.
  if (!looks && look() != Reach::kDone) return GetResult::kFailed;
  if (!is_ready()) return GetResult::kMoved;
  const bool is_still = moves % 2 == 0 && live_.moves == moves;
  for (size_t i = 0; i < wanted->size(); ++i) {
    Wanted& own = (*wanted)[i];
    if (own.is_done) continue;
    own.is_done = is_still && is_torn[i] == 0;
    if (own.is_done)
      values[i].result = GetResult::kNotFound;
    else
      ++counts_.retries;
  }
  return std::none_of(wanted->begin(), wanted->end(), is_open) ? GetResult::kFound : GetResult::kUnstable;
}

GetResult FarReader::get_many(const Key* keys, Value* values, size_t count) {
  std::vector<Wanted> wanted(count);
  counts_.gets += count;
  for (size_t i = 0; i < count; ++i) {
    wanted[i] = {locate(header_, keys[i].data, keys[i].bytes), false};
    values[i].is_found = false;
  }
  GetResult result = GetResult::kUnstable;
  for (int attempt = 0; attempt < kAttempts && result == GetResult::kUnstable; ++attempt)
    result = try_all(keys, values, &wanted);
  for (size_t i = 0; i < count; ++i)
    if (!wanted[i].is_done) values[i].result = result;
  return result;
}

GetResult FarReader::read_block(uint64_t bucket, uint64_t* next, std::vector<FarRow>* rows) {
  const uint32_t slots = header_.bucket_slots;
  const uint64_t last = std::min(bucket + kBlock, header_.bucket_count + kStashBuckets), part = last - bucket;
  *next = last;
  rows->clear();
  std::vector<char> is_open(part * slots, 1);
  std::vector<Candidate> candidates, whole;
  std::vector<uint64_t> kept;
  entries_.resize(part * slots);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::vector<Piece> pieces;
    add_piece(&pieces, kLiveOffset, sizeof(live_), &live_);
    add_piece(&pieces, header_.buckets_offset + bucket * bucket_bytes(), part * bucket_bytes(), entries_.data());
    counts_.bucket_reads += part;
    if (!read(pieces)) return GetResult::kFailed;
    if (!is_ready()) return GetResult::kMoved;
    candidates.clear();
    for (size_t i = 0; i < is_open.size(); ++i) {
      if (is_open[i] == 0) continue;
      if (entries_[i].place == 0)
        is_open[i] = 0;
      else
        candidates.push_back({i, bucket + i / slots, entries_[i], unpack_place(entries_[i].place).bytes, 0, false});
    }
    if (!read_records(candidates, false)) return GetResult::kFailed;
    for (Candidate& candidate : candidates) {
      if (!is_whole(candidate)) {
        ++counts_.retries;
        continue;
      }
      is_open[candidate.owner] = 0;
      const auto* record = &arena_[candidate.at];
      candidate.at = kept.size();
      const size_t words = candidate.bytes / sizeof(uint64_t);
      kept.insert(kept.end(), record, record + words);
      whole.push_back(candidate);
    }
    if (std::find(is_open.begin(), is_open.end(), 1) == is_open.end()) break;
  }
  arena_ = std::move(kept);
  for (const Candidate& candidate : whole) {
    FarRow row{};
    row.key = open_record(&arena_[candidate.at], row.value);
    row.value.is_found = true;
    row.value.result = GetResult::kFound;
    rows->push_back(row);
  }
  return std::find(is_open.begin(), is_open.end(), 1) == is_open.end() ? GetResult::kFound : GetResult::kUnstable;
}

}  // namespace strom::store::region
