// Parses numbers of up to eight characters, as most numbers have, by arithmetic on one word. No branch depends on the
// number of characters. Private to src/format/vcf.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace strom::format::vcf {

/// The first characters of a text. Eight bytes must be readable.
class ShortNumber {
 public:
  static constexpr size_t kMost = 8;

  /// 1 <= size <= kMost. `is_list`: only the characters before a comma.
  ShortNumber(const char* text, size_t size, bool is_list) : bits_(static_cast<unsigned>(size) * kByte) {
    std::memcpy(&word_, text, sizeof word_);
    if (!is_list) return;
    if (const uint64_t commas = found(','); commas != 0) bits_ = byte_of(commas);
  }

  /// False: there are other characters than digits, or no digit.
  bool integer(int32_t* value) const {
    uint32_t digits = 0;
    if (!digits_of(word_, bits_, &digits)) return false;
    *value = static_cast<int32_t>(digits);
    return true;
  }

  /// The nearest float. False: another method has to parse the text.
  bool real(float* value) const {
    // Whole numbers up to 2^24 and powers of ten up to 10^7 are exact, so there is only one rounding.
    constexpr float kPowers[] = {1, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F};
    constexpr uint32_t kMostExact = 16777216;
    uint64_t word = word_;
    unsigned bits = bits_, places = 0;
    if (const uint64_t points = found('.'); points != 0) {
      const unsigned at = byte_of(points);
      const uint64_t before = (uint64_t{1} << at) - 1;
      word = (word & before) | ((word >> kByte) & ~before);
      bits -= kByte;
      places = (bits - at) / kByte;
    }
    uint32_t digits = 0;
    if (!digits_of(word, bits, &digits) || digits > kMostExact) return false;
    *value = static_cast<float>(digits) / kPowers[places];
    return true;
  }

 private:
  static constexpr unsigned kByte = 8;
  static constexpr uint64_t kOnes = 0x0101010101010101;

  /// The first set bit belongs to the first byte that is `c`; 0 when no byte is.
  uint64_t found(char c) const {
    const uint64_t other = word_ ^ kOnes * static_cast<uint8_t>(c);
    const uint64_t zeros = (other - kOnes) & ~other & (kOnes << 7);
    return bits_ == 64 ? zeros : zeros & ((uint64_t{1} << bits_) - 1);
  }
  static unsigned byte_of(uint64_t marks) { return static_cast<unsigned>(std::countr_zero(marks)) & ~7U; }

  /// The number of the first bits / 8 characters.
  static bool digits_of(uint64_t word, unsigned bits, uint32_t* value) {
    if (bits == 0) return false;
    // The first digit is lowest: it moves up, and zeros below become leading zeros.
    uint64_t digits = (word ^ kOnes * '0') << (64 - bits);
    if ((((digits + kOnes * 6) | digits) & kOnes * 0xF0) != 0) return false;
    // Combines pairs of digits, then pairs of pairs, then those.
    constexpr uint64_t kEven = 0x000000FF000000FF;
    digits = digits * 10 + (digits >> 8);
    digits = ((digits & kEven) * (100 + (uint64_t{1000000} << 32)) +
              ((digits >> 16) & kEven) * (1 + (uint64_t{10000} << 32))) >>
             32;
    *value = static_cast<uint32_t>(digits);
    return true;
  }

  uint64_t word_ = 0;
  unsigned bits_;  // of the characters that are parsed
};

}  // namespace strom::format::vcf
