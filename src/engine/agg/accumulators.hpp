// The accumulators of a pipeline's groups, and the operations that all families of aggregates share. On a device, the
// groups with the smallest numbers have further accumulators in the block's shared memory. Single source.
#pragma once

#include "engine/block/registers.hpp"

namespace strom::engine::agg {

using namespace block;

/// An array with an accumulator for each group: of type T in the table, and of type O in the block's shared memory,
/// from byte `offset` on.
template <class P, class T, class O = T>
class Accumulators {
 public:
  STROM_INLINE Accumulators(const TileState& s, void* table, uint32_t offset) : table_(static_cast<T*>(table)) {
    if constexpr (P::kDevice) {
      own_groups_ = s.code->own_groups;
      offset_ = offset;
    }
  }
  /// f(the group's accumulator): a T*, or P's reference to an accumulator in shared memory.
  template <class F>
  STROM_INLINE void with(uint32_t group, F f) const {
    if constexpr (P::kDevice) {
      if (group < own_groups_) {
        f(P::template own<O>(offset_, group));
        return;
      }
    }
    f(table_ + group);
  }

 private:
  T* table_;
  uint32_t own_groups_ = 0, offset_ = 0;
};

template <class P>
STROM_INLINE Accumulators<P, int64_t, uint32_t> row_counts(const TileState& s) {
  return {s, s.groups->rows, 0};
}
template <class P>
STROM_INLINE Accumulators<P, int64_t, uint32_t> null_counts(const TileState& s, uint32_t index) {
  return {s, s.groups->nulls[index], s.code->own_arrays[index].nulls};
}
template <class P, class T>
STROM_INLINE Accumulators<P, T> value_accumulators(const TileState& s, uint32_t index) {
  return {s, s.groups->values[index], s.code->own_arrays[index].values};
}

template <class T, class M>
STROM_INLINE M* part(T* of, M T::* which) {
  return &(of->*which);
}

/// f(group, value, entry) for every entry whose value is not null; counts the null ones.
template <class P, class T, class F>
STROM_INLINE void for_each_value(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                                 const uint32_t* slots, F f) {
  const T* in = values<T>(s, code.arg);
  const uint8_t* flags = s.regs[code.arg].flags;
  if (flags == nullptr) {
    p.for_each_shared(s.count, [&](int i) { f(slots[i], in[i]); });
    return;
  }
  const auto nulls = null_counts<P>(s, index);
  p.for_each_shared(s.count, [&](int i) {
    if (flags[i] == 0)
      f(slots[i], in[i]);
    else
      nulls.with(slots[i], [&](auto count) { p.add(count, int64_t{1}); });
  });
}

template <class P>
STROM_INLINE void count_nulls(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  const uint8_t* flags = s.regs[code.arg].flags;
  if (flags == nullptr) return;
  const auto nulls = null_counts<P>(s, index);
  p.for_each_shared(s.count, [&](int i) {
    if (flags[i]) nulls.with(slots[i], [&](auto count) { p.add(count, int64_t{1}); });
  });
}

template <class P, class T, class Better>
STROM_INLINE void improve_values(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                                 const uint32_t* slots, Better better) {
  if constexpr (sizeof(T) <= 8) {
    const auto bests = value_accumulators<P, T>(s, index);
    for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
      bests.with(slot, [&](auto best) { p.improve(best, value, better); });
    });
  } else {  // not all devices can compare and swap 128 bits
    T* best = static_cast<T*>(s.groups->values[index]);
    const T* in = values<T>(s, code.arg);
    const uint8_t* flags = s.regs[code.arg].flags;
    count_nulls(p, s, code, index, slots);
    p.for_each_alone(s.count, [&](int i) {
      if (flags == nullptr || flags[i] == 0) p.improve(best + slots[i], in[i], better);
    });
  }
}

/// f(group, value) for each group of aggregate `index` that has seen rows, with its accumulator in the block's shared
/// memory.
template <class P, class T, class F>
STROM_INLINE void for_each_own(const P& p, const TileState& s, uint32_t index, F f) {
  const auto* rows = P::template own<uint32_t>(0, 0).at;
  const T* values = P::template own<T>(s.code->own_arrays[index].values, 0).at;
  p.for_each(static_cast<int>(s.code->own_groups), [&](int group) {
    if (rows[group] != 0) f(group, values[group]);
  });
}

}  // namespace strom::engine::agg
