#include "columnar/batch.hpp"

#include <cstring>

#include "base/ones.hpp"

namespace strom::columnar {

int64_t count_bits(const uint8_t* bits, int64_t begin, int64_t count) {
  const int64_t end = begin + count;
  int64_t ones = 0, at = begin;
  for (; at < end && (at & 7) != 0; ++at) ones += bits[at >> 3] >> (at & 7) & 1;
  for (; at + 64 <= end; at += 64) {
    uint64_t word;
    std::memcpy(&word, bits + (at >> 3), sizeof word);
    ones += base::count_ones(word);
  }
  for (; at < end; ++at) ones += bits[at >> 3] >> (at & 7) & 1;
  return ones;
}

}  // namespace strom::columnar
