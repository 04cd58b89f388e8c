// Accumulators on the host: the empty one, and combining two into one. Dispatches to the families of engine/agg. Used
// by group_table.cpp and shared_memory.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/block/tile.hpp"

namespace strom::engine::op {

inline constexpr size_t kLargestAccumulator =
    std::max({sizeof(registry::SquareSums), sizeof(registry::DecimalSum), sizeof(registry::PairMoments)});

/// An empty accumulator, and zeros behind it.
std::array<uint8_t, kLargestAccumulator> empty_accumulator(const block::AggregateCode& code);

/// First 8 bytes of an empty accumulator; zeros fill up a shorter one.
uint64_t accumulator_identity(const block::AggregateCode& code);

/// Adds the accumulator at `from` to the one at `into`; neither is empty. True when their order decides which of two
/// equal values stays.
bool combine_accumulators(const block::AggregateCode& code, void* into, const void* from);

/// True when the aggregate depends on the order of the rows by more than the last digits.
bool depends_on_order(const block::AggregateCode& code);

}  // namespace strom::engine::op
