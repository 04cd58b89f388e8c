// Folding for CRC-64 by carry-less multiplication (V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using
// PCLMULQDQ Instruction", Intel 2009, in the reflected form). For store/checksum.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strom::store {

inline constexpr uint64_t kCrc64Polynomial = 0xC96C5795D7870F42;  // reflected
inline constexpr size_t kFoldedBytes = 16;
inline constexpr size_t kLeastFolded = 32;  // fewer bytes are not worth it

bool can_fold_crc64();

/// Folds the first bytes, a multiple of 16, into `rest`: the register after `rest`, begun at 0, is the register after
/// those bytes, begun at `state`. `size` is kLeastFolded at least. Returns how many bytes.
size_t fold_crc64(uint64_t state, const uint8_t* bytes, size_t size, uint8_t rest[kFoldedBytes]);

}  // namespace strom::store
