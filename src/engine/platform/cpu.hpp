// The CPU as a platform: one thread owns the tile, and a loop over its rows is an ordinary contiguous loop. Built once
// per instruction set (engine/inst/tile_cpu.cpp). Everything that is not inlined depends on a type of the anonymous
// namespace, so that the linker cannot share an instantiation between instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) && defined(__AVX512BW__)
#define STROM_HAVE_AVX512 1
#include <immintrin.h>
#endif

#define STROM_INLINE inline __attribute__((always_inline))
#define STROM_KERNEL __attribute__((noinline))

namespace strom::engine::platform {
namespace {

/// The math library is the one that PostgreSQL calls.
inline constexpr bool kHostMath = true;

/// Adds to a counter that the threads of a tile share; returns the former value.
STROM_INLINE int64_t fetch_add(int64_t* counter, int64_t value) {
  const int64_t before = *counter;
  *counter = before + value;
  return before;
}

/// memcmp: negative, zero or positive.
STROM_INLINE int compare_bytes(const char* a, const char* b, int64_t bytes) {
  return bytes == 0 ? 0 : std::memcmp(a, b, static_cast<size_t>(bytes));
}
STROM_INLINE void copy_bytes(char* to, const char* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}
/// Offset of the first `needle`, which is not empty; -1: it does not occur.
STROM_INLINE int64_t find_bytes(const char* in, int64_t bytes, const char* needle, int64_t needle_bytes) {
  if (bytes <= 0) return -1;
  const void* found = memmem(in, static_cast<size_t>(bytes), needle, static_cast<size_t>(needle_bytes));
  return found == nullptr ? -1 : static_cast<const char*>(found) - in;
}

struct Cpu {
  static constexpr bool kDevice = false;

  template <class F>
  STROM_INLINE void for_each(int n, F&& f) const {
#pragma GCC ivdep
    for (int i = 0; i < n; ++i) f(i);
  }
  /// for_each whose iterations may update the same memory (through add, improve, ...).
  template <class F>
  STROM_INLINE void for_each_shared(int n, F&& f) const {
    for (int i = 0; i < n; ++i) f(i);
  }
  /// f(i) for every row by one thread, in order; ends with a barrier.
  template <class F>
  STROM_INLINE void for_each_alone(int n, F&& f) const {
    for (int i = 0; i < n; ++i) f(i);
  }
  template <class F>
  STROM_INLINE void leader(F&& f) const {
    f();
  }
  STROM_INLINE void sync() const {}
  STROM_INLINE bool any(bool flag) const { return flag; }

  /// Writes the positions of non-zero bytes of keep[0..n) to `positions` in ascending order; returns their count.
  /// May write up to 16 entries past the last one.
  STROM_INLINE int compact(const uint8_t* keep, int n, int32_t* positions) const {
    int count = 0, i = 0;
#ifdef STROM_HAVE_AVX512
    __m512i base = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i step = _mm512_set1_epi32(16);
    for (; i + 64 <= n; i += 64) {
      const __m512i bytes = _mm512_loadu_si512(keep + i);
      uint64_t bits = _mm512_test_epi8_mask(bytes, bytes);
      if (bits == 0) {
        base = _mm512_add_epi32(base, _mm512_set1_epi32(64));
        continue;
      }
      for (int part = 0; part < 4; ++part, bits >>= 16) {
        const __mmask16 mask = static_cast<__mmask16>(bits);
        _mm512_storeu_si512(positions + count, _mm512_maskz_compress_epi32(mask, base));
        count += __builtin_popcount(mask);
        base = _mm512_add_epi32(base, step);
      }
    }
#else
    for (; i + 8 <= n; i += 8) {
      uint64_t word;
      std::memcpy(&word, keep + i, 8);
      if (word == 0) continue;
      for (int k = 0; k < 8; ++k) {
        positions[count] = i + k;
        count += keep[i + k] != 0;
      }
    }
#endif
    for (; i < n; ++i) {
      positions[count] = i;
      count += keep[i] != 0;
    }
    return count;
  }

  /// out[i] = bit (keys[i] - min) of `bitmap`, 0 outside of [0, range).
  template <class Key>
  STROM_INLINE void test_bits(const Key* keys, int n, Key min, uint64_t range, const uint32_t* bitmap,
                              uint8_t* out) const {
    int i = 0;
#ifdef STROM_HAVE_AVX512
    if constexpr (sizeof(Key) == 4) {
      const __m512i lowest = _mm512_set1_epi32(min), limit = _mm512_set1_epi32(static_cast<int32_t>(range));
      const __m512i low_bits = _mm512_set1_epi32(31), one = _mm512_set1_epi32(1);
      for (; i + 16 <= n; i += 16) {
        const __m512i offset = _mm512_sub_epi32(_mm512_loadu_si512(keys + i), lowest);
        const __mmask16 inside = _mm512_cmplt_epu32_mask(offset, limit);
        const __m512i word =
            _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), inside, _mm512_srli_epi32(offset, 5), bitmap, 4);
        const __mmask16 set = _mm512_test_epi32_mask(_mm512_srlv_epi32(word, _mm512_and_si512(offset, low_bits)), one);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm_maskz_set1_epi8(set, 1));
      }
    }
#endif
    for (; i < n; ++i) {
      const uint64_t offset = static_cast<uint64_t>(keys[i]) - static_cast<uint64_t>(min);
      const bool inside = offset < range;
      const uint64_t entry = inside ? offset : 0;
      out[i] = static_cast<uint8_t>(bitmap[entry >> 5] >> (entry & 31) & static_cast<uint32_t>(inside));
    }
  }

  template <class T>
  STROM_INLINE void add(T* target, T value) const {
    *target += value;
  }
  /// Adds the value of every thread of the tile.
  template <class T>
  STROM_INLINE void add_all(T* target, T value) const {
    *target += value;
  }
  STROM_INLINE void mark(uint8_t* flag) const {
    if (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) __atomic_store_n(flag, uint8_t{1}, __ATOMIC_RELAXED);
  }
  /// Reads a word that others may change meanwhile.
  STROM_INLINE int32_t look(const volatile int32_t* word) const { return __atomic_load_n(word, __ATOMIC_RELAXED); }
  STROM_INLINE void add_i128(__int128* target, __int128 value) const { *target += value; }
  /// Replaces *target by `value` when better(value, *target).
  template <class T, class Better>
  STROM_INLINE void improve(T* target, T value, Better better) const {
    if (better(value, *target)) *target = value;
  }
  /// *target = f(*target, value), for an f that is commutative and associative.
  template <class T, class F>
  STROM_INLINE void combine(T* target, T value, F f) const {
    *target = f(*target, value);
  }
  STROM_INLINE void prefetch(const void* address) const { __builtin_prefetch(address); }
};

}  // namespace
}  // namespace strom::engine::platform
