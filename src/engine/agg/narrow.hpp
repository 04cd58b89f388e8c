// Which values are too wide for sums and variances. Single source.
#pragma once

#include <math.h>

#include "engine/agg/moments.hpp"
#include "engine/agg/sums.hpp"

namespace strom::engine::agg {

/// If some value of the tile is too wide, the values for which `is_final` is true go to PostgreSQL, too: infinity plus
/// any value does not overflow, so the order of the values decides whether there is an error.
template <class P, class T, class Wide, class Final>
STROM_INLINE void narrow_sum_typed(const P& p, TileState& s, const TileInstr& instr, Wide is_wide, Final is_final) {
  const T* in = values<T>(s, instr.a);
  const uint8_t* fa = s.regs[instr.a].flags;
  T* out = static_cast<T*>(s.storage[instr.dst].data);
  uint8_t* flags = s.storage[instr.dst].flags;
  unsigned wide = 0;
  p.for_each(s.count, [&](int i) {
    out[i] = in[i];
    const uint8_t flag = fa != nullptr ? fa[i] : 0;
    const bool too_wide = flag == 0 && is_wide(in[i]);
    flags[i] = too_wide ? kErrorFlag : flag;
    wide |= too_wide;
  });
  const bool any_wide = p.any(wide != 0), flagged = any_wide || fa != nullptr;
  if (any_wide) {
    p.for_each(s.count, [&](int i) {
      if (flags[i] == 0 && is_final(in[i])) flags[i] = kErrorFlag;
    });
  }
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

/// kNarrowSum: marks values whose sum could overflow, so that PostgreSQL evaluates their rows.
template <class P>
STROM_KERNEL void narrow_sum(const P& p, TileState& s, const TileInstr& instr) {
  const auto acc = static_cast<AccKind>(instr.imm);
  const bool moments = acc == AccKind::kMoments || acc == AccKind::kPairMoments;
  const bool average = acc == AccKind::kAvgF64 || moments;
  switch (static_cast<Phys>(s.code->register_phys[instr.a])) {
    case Phys::kI128: {
      const base::int128 limit = static_cast<base::int128>(1)
                                 << (acc == AccKind::kSumSquares ? kSquareBits : kSummableBits);
      narrow_sum_typed<P, base::int128>(
          p, s, instr, [limit](base::int128 v) { return v >= limit || v <= -limit; },
          [](base::int128) { return false; });
      break;
    }
    case Phys::kF32:
      narrow_sum_typed<P, float>(
          p, s, instr,
          [average](float v) {
            const float size = v < 0 ? -v : v;
            return average ? !(size < INFINITY) : size > static_cast<float>(kSummableF32) && size < INFINITY;
          },
          [](float v) { return !(v - v == 0); });
      break;
    default:
      const double limit = moments ? kMomentF64 : kAveragableF64;
      narrow_sum_typed<P, double>(
          p, s, instr,
          [average, limit](double v) {
            const double size = v < 0 ? -v : v;
            return average ? !(size < limit) : size > kSummableF64 && size < INFINITY;
          },
          [](double v) { return !(v - v == 0); });
  }
}

}  // namespace strom::engine::agg
