// Gets from a region that is read through a transport. Works like reader.hpp in mapped memory, with the same proofs,
// but with as few round trips as possible: one for the header and all buckets of a key, and a second one for its
// record. Used by libstromkv. May throw std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "store/region/format.hpp"
#include "store/region/reader.hpp"
#include "store/region/transport.hpp"

namespace strom::store::region {

/// The part of a header that changes, from the last read.
struct LiveHeader {
  uint32_t state = 0, stash_rows = 0;
  uint64_t epoch = 0, moves = 0, extents_end = 0;
  uint64_t pinned = 0, unused[3] = {};
  uint64_t publish_begin = 0, publish_end = 0, rows = 0, heartbeat_us = 0;
};
inline constexpr uint64_t kLiveOffset = offsetof(Header, state);
static_assert(offsetof(Header, heartbeat_us) + sizeof(uint64_t) - kLiveOffset == sizeof(LiveHeader));
static_assert(offsetof(Header, publish_begin) - kLiveOffset == offsetof(LiveHeader, publish_begin));

/// A row of a scan. Valid until the reader's next call.
struct FarRow {
  Key key;
  Value value;
};

/// The view of a region for one thread.
class FarReader {
 public:
  /// Reads the header and the description. Errors: as for Reader::attach(). For kIoError, *reach has the reason.
  static Result<FarReader> attach(Transport* transport, Reach* reach, std::string* description);

  /// Like Reader::get_many(). kFailed: see reach(). The result is kFound if each value has a result of its own.
  GetResult get_many(const Key* keys, Value* values, size_t count);
  GetResult get(Key key, Value& value) { return get_many(&key, &value, 1); }

  /// Reads the rows of up to kBlock buckets from `bucket` on, including the stash. `next` is where to continue.
  GetResult read_block(uint64_t bucket, uint64_t* next, std::vector<FarRow>* rows);
  static constexpr uint64_t kBlock = 64;

  /// Reads the changing part of the header again.
  Reach look();

  Reach reach() const { return reach_; }
  const Header& header() const { return header_; }
  const LiveHeader& live() const { return live_; }
  const ReaderCounts& counts() const { return counts_; }

  /// Attempts before kUnstable; each takes two or three round trips.
  static constexpr int kAttempts = 100;

 private:
  /// An entry that may belong to the key, and its record.
  struct Candidate {
    size_t owner;  // index of the key or place
    uint64_t bucket;
    Entry entry;
    uint64_t bytes;  // of the record; 0: unknown
    size_t at;       // position in arena_, in words
    bool is_torn;
  };
  struct Wanted {
    KeyHash hash;
    bool is_done;
  };

  FarReader(Transport* transport, const Header& header) : transport_(transport), header_(header) {}

  bool read(std::vector<Piece>& pieces);
  bool read_records(std::vector<Candidate>& candidates, bool looks);
  bool is_whole(const Candidate& candidate) const;
  bool is_ready() const { return static_cast<State>(live_.state) == State::kReady; }
  static bool finds_nothing(const std::vector<Wanted>& wanted, const std::vector<Candidate>& candidates);
  GetResult try_all(const Key* keys, Value* values, std::vector<Wanted>* wanted);
  void add_piece(std::vector<Piece>* pieces, uint64_t offset, uint64_t bytes, void* to) const;
  bool read_buckets(const std::vector<Wanted>& wanted, std::vector<Candidate>* candidates);
  void find_candidates(size_t owner, const Entry* entries, uint64_t bucket, uint32_t fingerprint,
                       std::vector<Candidate>* candidates) const;
  bool settle(const Candidate& candidate, Key key, Value& value) const;
  uint64_t bucket_bytes() const { return header_.bucket_slots * sizeof(Entry); }

  Transport* transport_;
  Header header_;
  LiveHeader live_;
  Reach reach_ = Reach::kDone;
  std::vector<Entry> entries_;
  std::vector<uint64_t> arena_;
  ReaderCounts counts_;
};

}  // namespace strom::store::region
