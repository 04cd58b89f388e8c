// numeric to and from 128-bit fixed point, exactly. Builds and reads PostgreSQL's stored numeric format itself: it is
// an on-disk format, the same in all supported versions, and there is no public function for 128-bit integers.
#pragma once

#include <cstdint>
#include <string>

#include "base/int128.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::codec {

/// As the scale of a kDecimal128 field of codec::field_for(): values are registry::TypeId::kDecimal's.
using base::kOwnScale;

/// `unscaled` / 10^`scale` as numeric with display scale `scale` (0 to 63), palloc'd. May ereport.
Datum numeric_from_int128(__int128 unscaled, int scale);

/// The value of `numeric` (detoasted or not) times 10^`scale`. False when it is NaN or infinite, has digits behind
/// `scale`, or does not fit into 38 digits. May ereport (detoasting).
bool numeric_to_int128(Datum numeric, int scale, __int128* unscaled);

/// The same with the scale beside the value, see base/int128.hpp.
bool numeric_to_decimal(Datum numeric, __int128* decimal);

/// The same without zeros behind the point, as the engine's join keys are: equal values are equal bits.
bool numeric_to_shortest_decimal(Datum numeric, __int128* decimal);

/// What base/stored_numeric.hpp describes. May ereport (detoasting).
void stored_bytes(Datum numeric, std::string* bytes);

}  // namespace strom::pg::codec
