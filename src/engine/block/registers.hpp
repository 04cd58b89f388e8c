// Tile primitives: the memory of registers, and moves of rows between tiles. Single source.
#pragma once

#include "base/int128.hpp"
#include "engine/block/tile.hpp"
#include "engine/platform/platform.hpp"

namespace strom::engine::block {

template <class T>
STROM_INLINE T* values(const TileState& s, uint16_t reg) {
  return static_cast<T*>(s.regs[reg].data);
}

/// Makes `reg` point to its own memory. Only the leader calls it.
STROM_INLINE void own(TileState& s, uint16_t reg, bool with_flags) {
  s.regs[reg].data = s.storage[reg].data;
  s.regs[reg].flags = with_flags ? s.storage[reg].flags : nullptr;
}

/// dst's flags <- a's flags, or'ed with b's if b is a register. Returns whether dst has flags now.
template <class P>
STROM_INLINE bool merge_flags(const P& p, TileState& s, uint16_t dst, uint16_t a, uint16_t b) {
  const uint8_t* fa = s.regs[a].flags;
  const uint8_t* fb = b == kNoRegister ? nullptr : s.regs[b].flags;
  const bool flagged = fa != nullptr || fb != nullptr;
  if (flagged) {
    uint8_t* out = s.storage[dst].flags;
    if (fa != nullptr && fb != nullptr)
      p.for_each(s.count, [&](int i) { out[i] = fa[i] | fb[i]; });
    else {
      const uint8_t* only = fa != nullptr ? fa : fb;
      p.for_each(s.count, [&](int i) { out[i] = only[i]; });
    }
  }
  return flagged;
}

/// out[i] = in[positions[i]] for a value of `phys`.
template <class P>
STROM_INLINE void gather_values(const P& p, Phys phys, void* out, const void* in, const int32_t* positions, int count) {
  switch (registry::phys_size(phys)) {
    case 1: {
      auto* o = static_cast<uint8_t*>(out);
      auto* v = static_cast<const uint8_t*>(in);
      p.for_each(count, [&](int i) { o[i] = v[positions[i]]; });
      break;
    }
    case 4: {
      auto* o = static_cast<uint32_t*>(out);
      auto* v = static_cast<const uint32_t*>(in);
      p.for_each(count, [&](int i) { o[i] = v[positions[i]]; });
      break;
    }
    case 8: {
      auto* o = static_cast<uint64_t*>(out);
      auto* v = static_cast<const uint64_t*>(in);
      p.for_each(count, [&](int i) { o[i] = v[positions[i]]; });
      break;
    }
    default: {
      auto* o = static_cast<base::uint128*>(out);
      auto* v = static_cast<const base::uint128*>(in);
      p.for_each(count, [&](int i) { o[i] = v[positions[i]]; });
    }
  }
}

/// out[i] = in[i] for a value of `phys`.
template <class P>
STROM_INLINE void copy_values(const P& p, Phys phys, void* out, const void* in, int count) {
  const int words = registry::phys_size(phys);
  if (words == 1) {
    auto* o = static_cast<uint8_t*>(out);
    auto* v = static_cast<const uint8_t*>(in);
    p.for_each(count, [&](int i) { o[i] = v[i]; });
    return;
  }
  auto* o = static_cast<uint32_t*>(out);
  auto* v = static_cast<const uint32_t*>(in);
  p.for_each(count * (words / 4), [&](int i) { o[i] = v[i]; });
}

/// Address of value `index` of an array of `phys`.
STROM_INLINE void* at(void* array, Phys phys, int64_t index) {
  return static_cast<char*>(array) + index * registry::phys_size(phys);
}

/// Row of tile entry i, relative to the morsel.
STROM_INLINE int32_t row_of(const TileState& s, int i) { return s.rows != nullptr ? s.rows[i] : s.dense_base + i; }

}  // namespace strom::engine::block
