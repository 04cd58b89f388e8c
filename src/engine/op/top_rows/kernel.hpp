// The first rows of an order. A sort key becomes an integer of the same order, and rows after the ones that the worker
// has already found are dropped. Rows with equal integers stay, and whoever sorts the remaining rows decides about
// them. Single source.
#pragma once

#include "engine/block/registers.hpp"
#include "engine/expr/compare.hpp"
#include "engine/expr/text.hpp"

namespace strom::engine::op {

using namespace block;

/// a <= b in SQL's order means order_of(a) <= order_of(b). Different values may get the same integer.
STROM_INLINE int64_t order_of(uint8_t v) { return v; }
STROM_INLINE int64_t order_of(int32_t v) { return v; }
STROM_INLINE int64_t order_of(int64_t v) { return v; }
STROM_INLINE int64_t order_of(base::int128 v) {
  return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : static_cast<int64_t>(v);
}
STROM_INLINE int64_t order_of(double v) {
  if (v != v) return INT64_MAX;
  union {
    double value;
    int64_t bits;
  } cast;
  cast.value = v == 0 ? 0 : v;  // -0 = 0
  return cast.bits >= 0 ? cast.bits : cast.bits ^ INT64_MAX;
}
STROM_INLINE int64_t order_of(float v) { return order_of(static_cast<double>(v)); }
STROM_INLINE int64_t order_of(StrView v) {
  uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word = word << 8 | (i < v.len ? static_cast<uint8_t>(v.ptr[i]) : 0u);
  return static_cast<int64_t>(word ^ uint64_t{1} << 63);
}

/// kOrderKey: dst (int64) <- sort key of register a; imm: kOrder... bits. Errors are kept.
template <class P>
STROM_KERNEL void order_key(const P& p, TileState& s, const TileInstr& instr) {
  const int64_t reverse = instr.imm & kOrderDescending ? -1 : 0;
  const int64_t null_key = instr.imm & kOrderNullsFirst ? INT64_MIN : INT64_MAX;
  const uint8_t* fa = s.regs[instr.a].flags;
  int64_t* out = static_cast<int64_t*>(s.storage[instr.dst].data);
  uint8_t* flags = s.storage[instr.dst].flags;
  const auto write_keys_by = [&](auto zero, auto order) {
    using T = decltype(zero);
    const T* in = values<T>(s, instr.a);
    if (fa == nullptr) {
      p.for_each(s.count, [&](int i) { out[i] = order(in[i]) ^ reverse; });
      return;
    }
    p.for_each(s.count, [&](int i) {
      out[i] = fa[i] == 0 ? order(in[i]) ^ reverse : null_key;
      flags[i] = fa[i] & kErrorFlag;
    });
  };
  const auto write_keys = [&](auto zero) { write_keys_by(zero, [](auto value) { return order_of(value); }); };
  switch (static_cast<Phys>(s.code->register_phys[instr.a])) {
    case Phys::kBool: write_keys(uint8_t{}); break;
    case Phys::kI32: write_keys(int32_t{}); break;
    case Phys::kI64: write_keys(int64_t{}); break;
    case Phys::kI128:
      if (instr.imm & kOrderUpper)
        write_keys_by(base::int128{}, [](base::int128 value) { return static_cast<int64_t>(value >> 64); });
      else
        write_keys(base::int128{});
      break;
    case Phys::kF32: write_keys(float{}); break;
    case Phys::kF64: write_keys(double{}); break;
    case Phys::kStr: write_keys(StrView{}); break;
  }
  p.leader([&] { own(s, instr.dst, fa != nullptr); });
  p.sync();
}

/// kWithinTop: dst (bool) <- the row's sort key (register a) is not after the last row that is needed.
template <class P>
STROM_KERNEL void within_top(const P& p, TileState& s, const TileInstr& instr) {
  const int64_t* in = values<int64_t>(s, instr.a);
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  const int64_t last = s.top_last;
  p.for_each(s.count, [&](int i) { out[i] = in[i] <= last; });
  const bool flagged = merge_flags(p, s, instr.dst, instr.a, kNoRegister);
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

}  // namespace strom::engine::op
