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

/// The same in the order of the rows. On the CPU, an accumulator in memory would make each addition wait for the store
/// of the one before.
template <class P, class T, class A>
STROM_INLINE void reduce_in_order(const P& p, TileState& s, uint32_t index) {
  const T* in = values<T>(s, s.code->aggregates[index].arg);
  A* const sum = static_cast<A*>(s.groups->values[index]);
  A local = *sum;
  p.for_each_alone(s.count, [&](int i) { local += static_cast<A>(in[i]); });
  *sum = local;
}

/// The best value without nulls, on the CPU. Values rarely replace the best one so far, so a few of them are compared
/// with it together, by vectors. If any of them is better, they are looked at one by one.
template <class P, class T, class Better>
STROM_INLINE void reduce_best(const P& p, TileState& s, uint32_t index, Better better) {
  constexpr int kTogether = 64;
  const T* in = values<T>(s, s.code->aggregates[index].arg);
  T* const best = static_cast<T*>(s.groups->values[index]);
  for (int begin = 0; begin < s.count; begin += kTogether) {
    const int count = s.count - begin < kTogether ? s.count - begin : kTogether;
    const T* const some = in + begin;
    T local = *best;
    uint64_t any = 0;
    p.for_each(count, [&](int i) { any |= static_cast<uint64_t>(better(some[i], local)); });
    if (any == 0) continue;
    p.for_each_alone(count, [&](int i) { local = better(some[i], local) ? some[i] : local; });
    *best = local;
  }
}

template <class P, class T>
STROM_INLINE void reduce_bests(const P& p, TileState& s, uint32_t index) {
  agg::with_better<P, T>(s.code->aggregates[index], [&](auto better) { reduce_best<P, T>(p, s, index, better); });
}

/// reduce() for aggregates that the CPU computes in the order of the rows, as PostgreSQL does.
template <class P>
STROM_INLINE bool reduce_on_cpu(const P& p, TileState& s, uint32_t index) {
  const AggregateCode& code = s.code->aggregates[index];
  if (code.acc == AccKind::kSumF32) return reduce_in_order<P, float, float>(p, s, index), true;
  if (code.acc == AccKind::kSumF64) return reduce_in_order<P, double, double>(p, s, index), true;
  if (code.acc == AccKind::kAvgF64 && code.phys == Phys::kF32)
    return reduce_in_order<P, float, double>(p, s, index), true;
  if (code.acc == AccKind::kAvgF64) return reduce_in_order<P, double, double>(p, s, index), true;
  if ((code.acc != AccKind::kMin && code.acc != AccKind::kMax) || agg::is_of_decimals(code)) return false;
  switch (code.phys) {
    case Phys::kI32: reduce_bests<P, int32_t>(p, s, index); return true;
    case Phys::kI64: reduce_bests<P, int64_t>(p, s, index); return true;
    case Phys::kF32: reduce_bests<P, float>(p, s, index); return true;
    case Phys::kF64: reduce_bests<P, double>(p, s, index); return true;
    default: return false;
  }
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
  if constexpr (!P::kDevice) {
    return reduce_on_cpu(p, s, index);
  } else {
    const bool from_float4 = code.phys == Phys::kF32;
    if (code.acc == AccKind::kSumF32) return reduce_sum<P, float, float>(p, s, index), true;
    if (code.acc == AccKind::kSumF64 || (code.acc == AccKind::kAvgF64 && !from_float4))
      return reduce_sum<P, double, double>(p, s, index), true;
    if (code.acc == AccKind::kAvgF64) return reduce_sum<P, float, double>(p, s, index), true;
    return false;
  }
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
