// Counting the ones of a word.
#pragma once

#include <cstdint>

namespace strom::base {

/// The number of bits that are 1. Does without a processor's instruction for it, which not all processors have: there
/// the compiler's own function would be a call for each word.
inline uint32_t count_ones(uint64_t word) {
  constexpr uint64_t kPairs = 0x5555555555555555, kFours = 0x3333333333333333, kBytes = 0x0F0F0F0F0F0F0F0F;
  word -= word >> 1 & kPairs;
  word = (word & kFours) + (word >> 2 & kFours);
  word = (word + (word >> 4)) & kBytes;
  return static_cast<uint32_t>(word * 0x0101010101010101 >> 56);
}

}  // namespace strom::base
