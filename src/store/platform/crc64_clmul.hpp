// Folding for CRC-64 by carry-less multiplication (V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using
// PCLMULQDQ Instruction", Intel 2009, in the reflected form). Used by store/checksum.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strom::store {

inline constexpr uint64_t kCrc64Polynomial = 0xC96C5795D7870F42;  // reflected
inline constexpr size_t kFoldedBytes = 16;
inline constexpr size_t kLeastFolded = 32;  // folding fewer bytes is not worth it

bool can_fold_crc64();

/// Folds the first bytes into `rest` and returns their number, a multiple of 16. The CRC register after `rest`, started
/// at 0, equals the register after those bytes, started at `state`. `size` is at least kLeastFolded.
size_t fold_crc64(uint64_t state, const uint8_t* bytes, size_t size, uint8_t rest[kFoldedBytes]);

}  // namespace strom::store
