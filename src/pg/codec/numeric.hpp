// numeric to and from 128-bit fixed point, exactly. Builds and reads PostgreSQL's stored numeric format itself: it is
// an on-disk format, the same in all supported versions, and there is no public function for 128-bit integers.
#pragma once

#include <cstdint>
#include <string>

#include "base/int128.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::codec {

/// A scale for kDecimal128 fields of codec::field_for(): each value has its own scale, as registry::TypeId::kDecimal
/// has.
using base::kOwnScale;

/// `unscaled` / 10^`scale` as numeric with display scale `scale` (0 to 63), palloc'd. May ereport.
Datum numeric_from_int128(__int128 unscaled, int scale);

/// The value of `numeric` (detoasted or not) times 10^`scale`. False when it is NaN or infinite, has digits behind
/// `scale`, or does not fit into 38 digits. May ereport (detoasting).
bool numeric_to_int128(Datum numeric, int scale, __int128* unscaled);

/// Like numeric_to_int128(), but the value carries its own scale, see base/int128.hpp.
bool numeric_to_decimal(Datum numeric, __int128* decimal);

/// Like numeric_to_decimal(), but without trailing zeros. Equal values have equal bits, which join keys of the engine
/// need.
bool numeric_to_shortest_decimal(Datum numeric, __int128* decimal);

/// Writes the bytes that base/stored_numeric.hpp describes. May ereport (detoasting).
void stored_bytes(Datum numeric, std::string* bytes);

}  // namespace strom::pg::codec
