// bit_and, bit_or and bit_xor. Single source.
#pragma once

#include "engine/agg/accumulators.hpp"

namespace strom::engine::agg {

template <class T>
STROM_INLINE T combined(AccKind acc, T a, T b) {
  return acc == AccKind::kBitAnd ? a & b : acc == AccKind::kBitOr ? a | b : a ^ b;
}

template <class P, class T>
STROM_INLINE void combine_bits(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                               const uint32_t* slots) {
  const auto accumulators = value_accumulators<P, T>(s, index);
  const AccKind acc = code.acc;
  for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
    accumulators.with(slot,
                      [&](auto bits) { p.combine(bits, value, [acc](T a, T b) { return combined(acc, a, b); }); });
  });
}

template <class P, class T>
STROM_INLINE void merge_bits(const P& p, const TileState& s, uint32_t index) {
  T* table = static_cast<T*>(s.groups->values[index]);
  const AccKind acc = s.code->aggregates[index].acc;
  for_each_own<P, T>(p, s, index, [&](int group, T bits) {
    p.combine(table + group, bits, [acc](T a, T b) { return combined(acc, a, b); });
  });
}

/// Combines two states into one, on the host.
STROM_INLINE void combine_bytes(AccKind acc, uint8_t* into, const uint8_t* from, int bytes) {
  for (int i = 0; i < bytes; ++i) into[i] = static_cast<uint8_t>(combined<int>(acc, into[i], from[i]));
}

}  // namespace strom::engine::agg
