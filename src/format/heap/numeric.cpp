// The stored format: a header and base-10000 digits of 16 bits, most significant first. Short header, 16 bits: 10,
// sign, 6 bits display scale, 7 bits signed weight. Long header: 16 bits sign (2) and display scale (14), then a
// 16-bit weight. The value is the sum of digit[i] * 10000^(weight - i).
#include "format/heap/numeric.hpp"

#include <array>
#include <cstring>

#include "base/int128.hpp"

namespace strom::format::heap {

namespace {

constexpr uint16_t kSignMask = 0xC000;
constexpr uint16_t kNegative = 0x4000;
constexpr uint16_t kShort = 0x8000;
constexpr uint16_t kSpecial = 0xC000;  // NaN and infinities
constexpr uint16_t kShortNegative = 0x2000;
constexpr uint16_t kShortWeightMask = 0x007F;
constexpr uint16_t kShortScaleMask = 0x1F80;
constexpr int kShortScaleShift = 7;
constexpr uint16_t kScaleMask = 0x3FFF;
constexpr int kBase = 10000;
constexpr int kBaseDigits = 4;
constexpr int kMaxPower = 38;

using Magnitude = unsigned __int128;

constexpr std::array<Magnitude, kMaxPower + 1> make_powers() {
  std::array<Magnitude, kMaxPower + 1> powers{};
  powers[0] = 1;
  for (int i = 1; i <= kMaxPower; ++i) powers[static_cast<size_t>(i)] = powers[static_cast<size_t>(i) - 1] * 10;
  return powers;
}
constexpr std::array<Magnitude, kMaxPower + 1> kPowers = make_powers();
constexpr Magnitude kLimit = kPowers[kMaxPower];  // first magnitude that is out of range

// What may be multiplied by each power; a division of 128 bits is slow.
constexpr std::array<Magnitude, kMaxPower + 1> make_largest() {
  std::array<Magnitude, kMaxPower + 1> largest{};
  for (size_t i = 0; i <= kMaxPower; ++i) largest[i] = (kLimit - 1) / kPowers[i];
  return largest;
}
constexpr std::array<Magnitude, kMaxPower + 1> kLargest = make_largest();

uint16_t load16(const char* bytes) {
  uint16_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

struct Header {
  bool negative;
  int weight;
  int scale;
  int size;  // bytes
};

bool read_header(const char* bytes, int length, Header* header) {
  if (length < 2) return false;
  const uint16_t word = load16(bytes);
  if ((word & kSignMask) == kSpecial) return false;
  if ((word & kSignMask) == kShort) {
    *header = {(word & kShortNegative) != 0, ((word & kShortWeightMask) ^ 0x40) - 0x40,
               (word & kShortScaleMask) >> kShortScaleShift, 2};
    return true;
  }
  if (length < 4) return false;
  *header = {(word & kSignMask) == kNegative, static_cast<int16_t>(load16(bytes + 2)), word & kScaleMask, 4};
  return true;
}

// The digits as one number; false when it is too large.
bool read_digits(const char* bytes, int count, Magnitude* digits) {
  constexpr int kInWord = 4;  // 10^16
  uint64_t low = 0;
  int i = 0;
  for (; i < count && i < kInWord; ++i) {
    const uint16_t digit = load16(bytes + 2 * i);
    if (digit >= kBase) return false;
    low = low * kBase + digit;
  }
  Magnitude value = low;
  for (; i < count; ++i) {
    const uint16_t digit = load16(bytes + 2 * i);
    if (digit >= kBase || value > (~Magnitude{0} - digit) / kBase) return false;
    value = value * kBase + digit;
  }
  *digits = value;
  return true;
}

// False when digits would be lost.
bool divide(Magnitude* value, int power) {
  if (power > kMaxPower) return false;
  const Magnitude by = kPowers[static_cast<size_t>(power)];
  if (*value >> 64 == 0 && by >> 64 == 0) {
    const auto small = static_cast<uint64_t>(*value), divisor = static_cast<uint64_t>(by);
    *value = small / divisor;
    return small % divisor == 0;
  }
  const Magnitude quotient = *value / by;
  const bool exact = quotient * by == *value;
  *value = quotient;
  return exact;
}

/// The value behind the header times 10^scale.
bool read_value(const char* bytes, int length, const Header& header, int scale, __int128* unscaled) {
  const int count = (length - header.size) / 2;
  Magnitude value;
  if (!read_digits(bytes + header.size, count, &value)) return false;
  const int shift = (header.weight - (count - 1)) * kBaseDigits + scale;  // decimal places between the digits and the result
  if (value == 0) {
    *unscaled = 0;
    return true;
  }
  if (shift >= 0) {
    if (shift > kMaxPower || value > kLargest[static_cast<size_t>(shift)]) return false;
    value *= kPowers[static_cast<size_t>(shift)];
  } else {
    if (!divide(&value, -shift) || value >= kLimit) return false;
  }
  *unscaled = header.negative ? -static_cast<__int128>(value) : static_cast<__int128>(value);
  return true;
}

}  // namespace

bool numeric_to_int128(const char* bytes, int length, int scale, __int128* unscaled) {
  Header header;
  return read_header(bytes, length, &header) && read_value(bytes, length, header, scale, unscaled);
}

bool numeric_to_decimal(const char* bytes, int length, __int128* decimal) {
  Header header;
  __int128 unscaled;
  return read_header(bytes, length, &header) && read_value(bytes, length, header, header.scale, &unscaled) &&
         base::make_decimal(unscaled, header.scale, decimal);
}

}  // namespace strom::format::heap
