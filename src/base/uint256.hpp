// Numbers of 256 bits, as far as reading decimals needs them. Used by the readers of texts and of PostgreSQL's numeric.
#pragma once

#include <cstdint>
#include <cstring>

namespace strom::base {

/// Not negative until negate().
struct UInt256 {
  uint64_t words[4] = {};  // the lowest first

  /// this * factor + addend; false when it does not fit into 255 bits.
  bool multiply_add(uint64_t factor, uint64_t addend) {
    unsigned __int128 carry = addend;
    for (uint64_t& word : words) {
      carry += static_cast<unsigned __int128>(word) * factor;
      word = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    return carry == 0 && (words[3] >> 63) == 0;
  }

  bool less_than(const UInt256& other) const {
    for (int i = 3; i >= 0; --i)
      if (words[i] != other.words[i]) return words[i] < other.words[i];
    return false;
  }

  /// Stores the lowest 128 or 256 bits. Each copy has a constant size: a copy of unknown size would load both words at
  /// once, and wait for the stores that have just made them.
  void store(int32_t bits, uint8_t* out) const {
    constexpr size_t kWord = sizeof(uint64_t);
    std::memcpy(out, words, kWord);
    std::memcpy(out + kWord, words + 1, kWord);
    if (bits > 128) std::memcpy(out + 2 * kWord, words + 2, 2 * kWord);
  }

  /// Two's complement.
  void negate() {
    unsigned __int128 carry = 1;
    for (uint64_t& word : words) {
      carry += ~word;
      word = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
  }
};

}  // namespace strom::base
