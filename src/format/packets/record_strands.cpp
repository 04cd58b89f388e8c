// See record_strands.hpp.
#include "format/packets/record_strands.hpp"

#include "format/packets/byte_order.hpp"

namespace strom::format::packets {

namespace {

/// How far a record's begin is searched for. Most packets are shorter than half of it.
constexpr int64_t kSearch = 8 << 10;
constexpr uint32_t kHour = 3600, kNano = 1000000000;
/// Records that are read one after another after a search has failed.
constexpr int kRest = 4096;

template <bool kSwapped>
uint32_t number(const uint8_t* at) {
  return kSwapped ? swapped(load<uint32_t>(at)) : load<uint32_t>(at);
}

/// True when the bytes could be a record that was captured within an hour of `seconds`. Later steps find out if they
/// are not.
template <bool kSwapped>
bool may_begin(const uint8_t* at, uint32_t seconds, uint32_t longest) {
  if (number<kSwapped>(at) - seconds + kHour > 2 * kHour) return false;
  const uint32_t captured = number<kSwapped>(at + 8);
  return number<kSwapped>(at + 4) < kNano && captured <= longest && captured <= number<kSwapped>(at + 12);
}

}  // namespace

bool RecordStrands::is_worthwhile() {
  if (rest_ == 0) return true;
  --rest_;
  return false;
}

/// Finds where strands begin. The first one begins at a record; each ends where the next one begins.
template <bool kSwapped>
void RecordStrands::cut(const Records& records, int64_t at) {
  const uint32_t seconds = number<kSwapped>(records.bytes + at);
  strands_[0].at = at;
  used_ = 1;
  for (int64_t from = at + kStrandBytes; from < at + kBlockBytes; from += kStrandBytes) {
    for (int64_t place = from; place < from + kSearch; ++place) {
      if (!may_begin<kSwapped>(records.bytes + place, seconds, records.longest)) continue;
      const int64_t next = place + records.header + number<kSwapped>(records.bytes + place + 8);
      if (next < at + kBlockBytes && !may_begin<kSwapped>(records.bytes + next, seconds, records.longest)) continue;
      strands_[used_ - 1].end = place;
      strands_[used_].at = place;
      ++used_;
      break;
    }
  }
  strands_[used_ - 1].end = at + kBlockBytes;
}

/// Advances each strand by one record in turn, so that their memory accesses overlap.
template <bool kSwapped>
void RecordStrands::follow(const Records& records) {
  for (bool moves = true; moves;) {
    moves = false;
    for (size_t i = 0; i < used_; ++i) {
      Strand& strand = strands_[i];
      if (strand.at >= strand.end || strand.count == strand.offsets.size()) continue;
      const uint32_t captured = number<kSwapped>(records.bytes + strand.at + 8);
      if (captured > records.longest) {
        strand.end = strand.at;  // not a record: the strand that ends here finds out
        continue;
      }
      strand.offsets[strand.count++] = static_cast<uint32_t>(strand.at);
      strand.at += records.header + captured;
      moves = true;
    }
  }
}

template <bool kSwapped>
int64_t RecordStrands::find(const Records& records, int64_t at, std::vector<uint32_t>& offsets) {
  cut<kSwapped>(records, at);
  if (used_ < kStrands / 2) rest_ = kRest;
  for (size_t i = 0; i < used_; ++i) strands_[i].count = 0;
  follow<kSwapped>(records);
  for (size_t i = 0; i < used_ && strands_[i].count > 0 && strands_[i].offsets[0] == at; ++i) {
    const Strand& strand = strands_[i];
    offsets.insert(offsets.end(), strand.offsets.data(), strand.offsets.data() + strand.count);
    at = strand.at;
  }
  return at;
}

template int64_t RecordStrands::find<false>(const Records& records, int64_t at, std::vector<uint32_t>& offsets);
template int64_t RecordStrands::find<true>(const Records& records, int64_t at, std::vector<uint32_t>& offsets);

}  // namespace strom::format::packets
