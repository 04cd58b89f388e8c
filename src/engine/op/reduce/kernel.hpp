// Aggregation without groups. Sums without nulls are added in registers first. Single source.
#pragma once

#include "engine/agg/accumulate.hpp"

namespace strom::engine::op {

using namespace block;

/// One group, a sum without nulls: the loop in which most analytic queries spend their time.
template <class P, class T, class A>
STROM_INLINE void reduce_sum(const P& p, TileState& s, uint32_t index) {
  const T* in = values<T>(s, s.code->aggregates[index].arg);
  A local = -A{};  // for floats -0, which changes no sum
  p.for_each(s.count, [&](int i) { local += static_cast<A>(in[i]); });
  p.add_all(static_cast<A*>(s.groups->values[index]), local);
}

/// Adds the running tile to the only group of aggregate `index`. False when agg::accumulate() has to do it.
template <class P>
STROM_INLINE bool reduce(const P& p, TileState& s, uint32_t index) {
  const AggregateCode& code = s.code->aggregates[index];
  if (code.acc == AccKind::kCountRows) return true;
  if (s.regs[code.arg].flags != nullptr) return false;
  switch (code.acc) {
    case AccKind::kCount: return true;
    case AccKind::kSumI64: reduce_sum<P, int32_t, int64_t>(p, s, index); return true;
    case AccKind::kSumI128:
      if (code.phys == Phys::kI64)
        reduce_sum<P, int64_t, base::int128>(p, s, index);
      else
        reduce_sum<P, base::int128, base::int128>(p, s, index);
      return true;
    default: break;
  }
  if constexpr (P::kDevice) {  // the CPU adds floats in the rows' order, as PostgreSQL does
    const bool from_float4 = code.phys == Phys::kF32;
    if (code.acc == AccKind::kSumF32) return reduce_sum<P, float, float>(p, s, index), true;
    if (code.acc == AccKind::kSumF64 || (code.acc == AccKind::kAvgF64 && !from_float4))
      return reduce_sum<P, double, double>(p, s, index), true;
    if (code.acc == AccKind::kAvgF64) return reduce_sum<P, float, double>(p, s, index), true;
  }
  return false;
}

/// End of a kAggregate segment with one group.
template <class P>
STROM_INLINE void reduce_rows(const P& p, TileState& s, uint32_t segment) {
  const auto rows = agg::row_counts<P>(s);
  p.leader([&] {
    s.segment_rows_out[segment] += s.count;
    rows.with(0, [&](auto count) { p.add(count, static_cast<int64_t>(s.count)); });
  });
  uint32_t* slots = nullptr;
  for (uint32_t a = 0; a < s.code->aggregate_count; ++a) {
    if (reduce(p, s, a)) continue;
    if (slots == nullptr) {
      slots = reinterpret_cast<uint32_t*>(s.scratch_positions);
      p.for_each(s.count, [&](int i) { slots[i] = 0; });
      p.sync();
    }
    agg::accumulate(p, s, a, slots);
  }
  p.sync();
}

}  // namespace strom::engine::op
