// The stored format is described in base/stored_numeric.hpp.
#include "format/heap/numeric.hpp"

#include <array>
#include <cstddef>

#include "base/int128.hpp"
#include "base/stored_numeric.hpp"

namespace strom::format::heap {

namespace {

constexpr int kMaxPower = base::kMaxDecimalDigits;

using Magnitude = unsigned __int128;

constexpr std::array<Magnitude, kMaxPower + 1> make_powers() {
  std::array<Magnitude, kMaxPower + 1> powers{};
  for (int i = 0; i <= kMaxPower; ++i) powers[static_cast<size_t>(i)] = static_cast<Magnitude>(base::power_of_ten(i));
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
bool read_value(const char* bytes, int length, const base::NumericHeader& header, int scale, __int128* unscaled) {
  const int count = (length - header.size) / 2;
  Magnitude value;
  if (!base::read_numeric_digits(bytes + header.size, count, &value)) return false;
  const int shift = base::numeric_shift(header, count, scale);
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
  base::NumericHeader header;
  return base::read_numeric_header(bytes, length, &header) && read_value(bytes, length, header, scale, unscaled);
}

bool numeric_to_decimal(const char* bytes, int length, __int128* decimal) {
  base::NumericHeader header;
  __int128 unscaled;
  return base::read_numeric_header(bytes, length, &header) && read_value(bytes, length, header, header.scale, &unscaled) &&
         base::make_decimal(unscaled, header.scale, decimal);
}

}  // namespace strom::format::heap
