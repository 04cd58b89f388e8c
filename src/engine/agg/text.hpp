// Minima and maxima of texts. The states are views; the host copies the texts before their memory is freed. Single
// source.
#pragma once

#include "engine/agg/accumulators.hpp"
#include "engine/expr/text.hpp"

namespace strom::engine::agg {

/// There is no text that every other text would replace, so a negative length marks the empty state.
inline constexpr StrView kNoText{nullptr, -1};
STROM_INLINE bool text_replaces(StrView value, StrView best, bool less) {
  if (best.len < 0) return true;
  const int order = expr::text_compare(value, best);
  return less ? order < 0 : order > 0;
}

template <class P>
STROM_INLINE void best_texts(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                             const uint32_t* slots) {
  const bool less = code.acc == AccKind::kMin;
  improve_values<P, StrView>(p, s, code, index, slots,
                             [less](StrView a, StrView b) { return text_replaces(a, b, less); });
}

}  // namespace strom::engine::agg
