// Hashing of register values. Values that SQL calls equal have equal hashes: -0 and 0, and all NaNs. For char(n) the
// caller trims the padding first. Single source; the host uses it to look up keys.
#pragma once

#include "engine/block/registers.hpp"

namespace strom::engine::block {

/// The finaliser of MurmurHash3 (public domain, A. Appleby).
STROM_INLINE uint64_t mix(uint64_t k) {
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdull;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53ull;
  return k ^ (k >> 33);
}

STROM_INLINE uint64_t combine(uint64_t seed, uint64_t hash) { return mix(seed * 0x9e3779b97f4a7c15ull + hash); }

/// Inner sides beyond their budget are divided into ranges of these buckets. The buckets are independent of the slots
/// and tags of hash tables.
inline constexpr uint32_t kPartitionBuckets = 1u << 14;

STROM_INLINE uint32_t partition_bucket(uint64_t hash) {
  return static_cast<uint32_t>(hash * 0xd6e8feb86659fd93ull >> 40) & (kPartitionBuckets - 1);
}

STROM_INLINE bool in_buckets(uint64_t hash, uint32_t first, uint32_t last) {
  return partition_bucket(hash) - first <= last - first;
}

inline constexpr uint64_t kNullHash = 0x7f4a7c159e3779b9ull;

template <class T>
STROM_INLINE uint64_t hash_value(T v) {
  return mix(static_cast<uint64_t>(static_cast<int64_t>(v)));
}
template <>
STROM_INLINE uint64_t hash_value(base::int128 v) {
  return combine(static_cast<uint64_t>(v), static_cast<uint64_t>(v >> 64));
}
template <>
STROM_INLINE uint64_t hash_value(double v) {
  if (v == 0) v = 0;
  if (v != v) return kNullHash + 1;
  union {
    double d;
    uint64_t u;
  } bits = {v};
  return mix(bits.u);
}
template <>
STROM_INLINE uint64_t hash_value(float v) {
  return hash_value(static_cast<double>(v));
}
template <>
STROM_INLINE uint64_t hash_value(StrView v) {
  uint64_t hash = static_cast<uint64_t>(v.len);
  int64_t i = 0;
  for (; i + 8 <= v.len; i += 8) {
    uint64_t word = 0;
    for (int k = 0; k < 8; ++k) word |= static_cast<uint64_t>(static_cast<uint8_t>(v.ptr[i + k])) << (8 * k);
    hash = combine(hash, word);
  }
  uint64_t tail = 0;
  for (int k = 0; i < v.len; ++i, ++k) tail |= static_cast<uint64_t>(static_cast<uint8_t>(v.ptr[i])) << (8 * k);
  return combine(hash, tail);
}

/// Calls f with a value of the C type of `phys`.
template <class F>
STROM_INLINE void with_phys(Phys phys, F&& f) {
  switch (phys) {
    case Phys::kBool: f(uint8_t{}); break;
    case Phys::kI32: f(int32_t{}); break;
    case Phys::kI64: f(int64_t{}); break;
    case Phys::kI128: f(base::int128{}); break;
    case Phys::kF32: f(float{}); break;
    case Phys::kF64: f(double{}); break;
    case Phys::kStr: f(StrView{}); break;
  }
}

/// Equality of keys as PostgreSQL's = has it for joins and grouping (NaN = NaN, bytes for text).
template <class T>
STROM_INLINE bool keys_equal(T a, T b) {
  return a == b;
}
template <>
STROM_INLINE bool keys_equal(double a, double b) {
  return (a == b) | ((a != a) & (b != b));
}
template <>
STROM_INLINE bool keys_equal(float a, float b) {
  return (a == b) | ((a != a) & (b != b));
}
template <>
STROM_INLINE bool keys_equal(StrView a, StrView b) {
  if (a.len != b.len) return false;
  for (int64_t i = 0; i < a.len; ++i)
    if (a.ptr[i] != b.ptr[i]) return false;
  return true;
}

/// True when the key of `row` in a table column, which load() reads, equals register `reg`'s value of entry i. A null
/// equals a null.
template <class Load>
STROM_INLINE bool key_matches(const TileState& s, uint16_t reg, int i, const TableColumn& column, int64_t row,
                              Load load) {
  const uint8_t* fr = s.regs[reg].flags;
  const bool null_reg = fr != nullptr && (fr[i] & kNullFlag);
  const bool null_row = column.flags != nullptr && (load(column.flags + row) & kNullFlag);
  if (null_reg || null_row) return null_reg == null_row;
  bool equal = false;
  with_phys(column.phys, [&](auto zero) {
    using T = decltype(zero);
    equal = keys_equal(static_cast<const T*>(s.regs[reg].data)[i], load(static_cast<const T*>(column.data) + row));
  });
  return equal;
}
/// The same for a table that does not change.
STROM_INLINE bool key_matches(const TileState& s, uint16_t reg, int i, const TableColumn& column, int64_t row) {
  return key_matches(s, reg, i, column, row, [](const auto* from) { return *from; });
}

/// kHash: dst <- hash of the registers of list imm. A null's hash is a constant.
template <class P>
STROM_KERNEL void hash_registers(const P& p, TileState& s, const TileInstr& instr) {
  uint64_t* out = static_cast<uint64_t*>(s.storage[instr.dst].data);
  const uint16_t* list = s.code->lists + instr.imm;
  for (int k = 1; k <= list[0]; ++k) {
    const uint16_t reg = list[k];
    const uint8_t* flags = s.regs[reg].flags;
    with_phys(static_cast<Phys>(s.code->register_phys[reg]), [&](auto zero) {
      using T = decltype(zero);
      const T* in = static_cast<const T*>(s.regs[reg].data);
      p.for_each(s.count, [&](int i) {
        const uint64_t hash = flags != nullptr && flags[i] ? kNullHash : hash_value(in[i]);
        out[i] = k == 1 ? hash : combine(out[i], hash);
      });
    });
  }
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

}  // namespace strom::engine::block
