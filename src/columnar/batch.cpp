#include "columnar/batch.hpp"

#include <cstring>

namespace strom::columnar {

namespace {

/// Counts bits without a processor's instruction for it, which not all processors have: there the compiler's own
/// function would be a call for each word.
int64_t ones_of(uint64_t word) {
  constexpr uint64_t kPairs = 0x5555555555555555, kFours = 0x3333333333333333, kBytes = 0x0F0F0F0F0F0F0F0F;
  word -= word >> 1 & kPairs;
  word = (word & kFours) + (word >> 2 & kFours);
  word = (word + (word >> 4)) & kBytes;
  return static_cast<int64_t>(word * 0x0101010101010101 >> 56);
}

}  // namespace

int64_t count_bits(const uint8_t* bits, int64_t begin, int64_t count) {
  const int64_t end = begin + count;
  int64_t ones = 0, at = begin;
  for (; at < end && (at & 7) != 0; ++at) ones += bits[at >> 3] >> (at & 7) & 1;
  for (; at + 64 <= end; at += 64) {
    uint64_t word;
    std::memcpy(&word, bits + (at >> 3), sizeof word);
    ones += ones_of(word);
  }
  for (; at < end; ++at) ones += bits[at >> 3] >> (at & 7) & 1;
  return ones;
}

}  // namespace strom::columnar
