// Any bytes as records of a pcap file: those that are found from several places at once are those that are found one
// after the other. The bytes come again and again, so that a small input fills a block; the first three choose what of
// it is changed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "format/packets/record_strands.hpp"

using namespace strom::format::packets;

namespace {

constexpr uint32_t kHeader = 16, kLongest = 20000;
constexpr size_t kRoom = static_cast<size_t>(RecordStrands::kBlockBytes) + kHeader + kLongest;

void check(bool condition) {
  if (!condition) __builtin_trap();
}

template <bool kSwapped>
uint32_t number(const uint8_t* at) {
  uint32_t value;
  std::memcpy(&value, at, sizeof value);
  return kSwapped ? __builtin_bswap32(value) : value;
}

/// Records from the beginning on until one is impossible, or begins behind the block.
template <bool kSwapped>
std::vector<uint32_t> one_by_one(const std::vector<uint8_t>& bytes, int64_t end) {
  std::vector<uint32_t> found;
  for (int64_t at = 0; at < end;) {
    const auto captured = number<kSwapped>(bytes.data() + at + 8);
    if (captured > kLongest) break;
    found.push_back(static_cast<uint32_t>(at));
    at += kHeader + captured;
  }
  return found;
}

template <bool kSwapped>
void compare(const std::vector<uint8_t>& bytes) {
  static RecordStrands strands;
  std::vector<uint32_t> found;
  const int64_t end = strands.find<kSwapped>({bytes.data(), kHeader, kLongest}, 0, found);
  check(end >= 0 && end <= static_cast<int64_t>(kRoom));
  check((end > 0) == !found.empty());
  check(found == one_by_one<kSwapped>(bytes, end));
  (void)strands.is_worthwhile();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChoices = 3;
  if (size < kChoices + kHeader) return 0;
  const uint8_t *pattern = data + kChoices, *const choices = data;
  const size_t length = size - kChoices;
  std::vector<uint8_t> bytes(kRoom);  // nothing is behind it
  for (size_t at = 0; at < kRoom; at += length) std::memcpy(bytes.data() + at, pattern, std::min(length, kRoom - at));
  constexpr size_t kStep = 7919;
  for (size_t i = 0; i < choices[0] % 8; ++i)
    bytes[(choices[1] * kStep + i * choices[2] * kStep * kStep) % kRoom] ^= choices[2];
  compare<false>(bytes);
  compare<true>(bytes);
  return 0;
}
