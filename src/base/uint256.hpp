// Numbers of 256 bits, as far as reading and printing decimals needs them. Used by the readers of texts and of
// PostgreSQL's numeric, and by the writers of texts.
#pragma once

#include <cstdint>
#include <cstring>

namespace strom::base {

/// Not negative until negate().
struct UInt256 {
  uint64_t words[4] = {};  // the lowest first

  /// Of a number of up to 32 bytes in two's complement, the lowest first.
  static UInt256 magnitude(const void* bytes, size_t size, bool* negative) {
    UInt256 value;
    *negative = static_cast<const int8_t*>(bytes)[size - 1] < 0;
    if (*negative) std::memset(value.words, 0xFF, sizeof value.words);
    std::memcpy(value.words, bytes, size);
    if (*negative) value.negate();
    return value;
  }

  /// Decimal digits, most of them 78, the first of which is 0 for 0 only. Returns their end.
  char* put_digits(char* out) const {
    constexpr uint32_t kBillion = 1'000'000'000;
    constexpr int kParts = 8, kDigits = 9;
    uint32_t parts[kParts];
    std::memcpy(parts, words, sizeof parts);
    char reversed[kParts * sizeof(uint64_t) + 2 * kDigits];
    int size = 0;
    for (bool more = true; more;) {
      uint64_t rest = 0;
      more = false;
      for (int i = kParts; i-- > 0;) {
        rest = rest << 32 | parts[i];
        parts[i] = static_cast<uint32_t>(rest / kBillion);
        rest %= kBillion;
        more = more || parts[i] != 0;
      }
      for (int i = 0; i < kDigits; ++i, rest /= 10) reversed[size++] = static_cast<char>('0' + rest % 10);
    }
    while (size > 1 && reversed[size - 1] == '0') --size;
    while (size > 0) *out++ = reversed[--size];
    return out;
  }

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
