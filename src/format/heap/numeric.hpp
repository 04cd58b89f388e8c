// numeric as PostgreSQL stores it, to 128-bit fixed point. An on-disk format, the same in all supported versions. Used by the
// heap decoder here and by pg/codec.
#pragma once

#include <cstdint>

namespace strom::format::heap {

/// The value behind the varlena header (`length` bytes at `bytes`, not aligned) times 10^`scale`. False when it is NaN
/// or infinite, has digits behind `scale`, does not fit into 38 digits, or is no numeric. Reads each byte once.
bool numeric_to_int128(const char* bytes, int length, int scale, __int128* unscaled);

/// The value with the display scale that it has, as base/int128.hpp lays such decimals out. False when it has no place
/// there.
bool numeric_to_decimal(const char* bytes, int length, __int128* decimal);

}  // namespace strom::format::heap
