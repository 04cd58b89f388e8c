// Finds the records of a pcap file from several places at once. A record's length tells where the next record begins.
// If records are read one after another, each access waits for memory, which takes longer than all other work on a
// header. Private to src/format/packets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace strom::format::packets {

class RecordStrands {
 public:
  static constexpr int kStrands = 8;
  static constexpr int64_t kStrandBytes = 64 << 10, kBlockBytes = kStrands * kStrandBytes;

  struct Records {
    const uint8_t* bytes = nullptr;
    uint32_t header = 16;  // bytes of a record before the packet
    uint32_t longest = 0;  // bytes of a packet at most
  };

  /// Adds the offsets of records from `at` on, where a record begins, up to about `at` + kBlockBytes. Returns where the
  /// next record begins: `at` when none was added. Every added record begins where the one before it ends, and has a
  /// permitted length. Readable bytes behind `at`: kBlockBytes, a header and the longest packet.
  template <bool kSwapped>
  int64_t find(const Records& records, int64_t at, std::vector<uint32_t>& offsets);

  /// True when calling find() before the next record is worth it: not for a while after a failed search.
  bool is_worthwhile();

 private:
  struct Strand {
    int64_t at = 0, end = 0;
    uint32_t count = 0;
    std::array<uint32_t, kStrandBytes * 2 / 16> offsets;
  };
  template <bool kSwapped>
  void cut(const Records& records, int64_t at);
  template <bool kSwapped>
  void follow(const Records& records);

  std::vector<Strand> strands_ = std::vector<Strand>(kStrands);
  size_t used_ = 0;
  int rest_ = 0;  // calls of is_worthwhile()
};

}  // namespace strom::format::packets
