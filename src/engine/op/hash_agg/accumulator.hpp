// Accumulators on the host: what one is that has seen nothing, and how two become one. Dispatches to the families of
// engine/agg. Used by group_table.cpp and shared_memory.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/block/tile.hpp"

namespace strom::engine::op {

inline constexpr size_t kLargestAccumulator =
    std::max({sizeof(registry::SquareSums), sizeof(registry::DecimalSum), sizeof(registry::PairMoments)});

/// An accumulator that has seen nothing, and zeros behind it.
std::array<uint8_t, kLargestAccumulator> empty_accumulator(const block::AggregateCode& code);

/// First 8 bytes of an accumulator that has seen nothing, and zeros where it has fewer.
uint64_t accumulator_identity(const block::AggregateCode& code);

/// Adds what the accumulator at `from` has seen to the one at `into`; both have seen something. True when the order of
/// the two decides which of two equal values stays.
bool combine_accumulators(const block::AggregateCode& code, void* into, const void* from);

/// Some aggregate depends on the order of the rows by more than the last digits.
bool depends_on_order(const block::AggregateCode& code);

}  // namespace strom::engine::op
