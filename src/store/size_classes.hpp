// Sizes of extents in the published region and in the rows' heap: multiples of 16 bytes up to 1 KB, then eight steps
// for each doubling.
#pragma once

#include <bit>
#include <cstdint>

namespace strom::store {

inline constexpr uint64_t kExtentUnit = 16;
inline constexpr uint64_t kFineBytes = 1024;
inline constexpr uint32_t kFineClasses = kFineBytes / kExtentUnit;  // class c has (c + 1) * kExtentUnit bytes
inline constexpr uint32_t kSteps = 8;

constexpr uint64_t bytes_of_class(uint32_t size_class) {
  if (size_class < kFineClasses) return (size_class + 1) * kExtentUnit;
  const uint32_t above = size_class - kFineClasses;
  return (kFineBytes << (above / kSteps)) / kSteps * (kSteps + 1 + above % kSteps);
}

/// The smallest class with room for `bytes`, which is greater than 0.
constexpr uint32_t class_of(uint64_t bytes) {
  if (bytes <= kFineBytes) return static_cast<uint32_t>((bytes - 1) / kExtentUnit);
  const auto doubling = static_cast<uint32_t>(std::bit_width((bytes - 1) / kFineBytes)) - 1;
  const uint64_t base = kFineBytes << doubling, step = base / kSteps;
  return kFineClasses + doubling * kSteps + static_cast<uint32_t>((bytes - base - 1) / step);
}

}  // namespace strom::store
