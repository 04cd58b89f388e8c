// A CUDA thread block as a platform: the block's threads share the rows of a tile. Compiled by nvcc, and by any C++
// compiler with a SIMT header that supplies CUDA's names (tests). for_each gives row i to the same thread every time,
// so a thread may read back its own rows' values without a barrier.
#pragma once

#include <cstddef>
#include <cstdint>

#define STROM_INLINE __host__ __device__ __forceinline__
#define STROM_KERNEL __device__ __noinline__

namespace strom::engine::platform {

inline constexpr int kCudaBlockThreads = 128;
/// Blocks that a multiprocessor runs at a time, hence 64 registers for a thread. The kernel's launch bounds have this
/// number and override the limit that nvcc's command line sets for all functions.
inline constexpr int kCudaBlocks = 8;

/// The device's math library rounds differently from the one that PostgreSQL calls.
inline constexpr bool kHostMath = false;

/// Adds to a counter that the threads of a tile share; returns the former value.
__host__ __device__ __forceinline__ int64_t fetch_add(int64_t* counter, int64_t value) {
#if defined(__CUDACC__) && !defined(__CUDA_ARCH__)
  return *counter + value;  // nvcc's host pass: never called
#else
  return static_cast<int64_t>(
      atomicAdd(reinterpret_cast<unsigned long long*>(counter), static_cast<unsigned long long>(value)));
#endif
}

/// memcmp: negative, zero or positive.
__host__ __device__ __forceinline__ int compare_bytes(const char* a, const char* b, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i)
    if (a[i] != b[i]) return static_cast<uint8_t>(a[i]) < static_cast<uint8_t>(b[i]) ? -1 : 1;
  return 0;
}
__host__ __device__ __forceinline__ void copy_bytes(char* to, const char* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
}
/// Offset of the first `needle`, which is not empty; -1: it does not occur.
__host__ __device__ __forceinline__ int64_t find_bytes(const char* in, int64_t bytes, const char* needle,
                                                       int64_t needle_bytes) {
  for (int64_t i = 0; i + needle_bytes <= bytes; ++i)
    if (in[i] == needle[0] && compare_bytes(in + i, needle, needle_bytes) == 0) return i;
  return -1;
}

/// An accumulator in shared memory, where atomic additions have 32 bits only.
template <class T>
struct Own {
  T* at;
};
template <class T, class M>
__host__ __device__ __forceinline__ Own<M> part(Own<T> of, M T::* which) {
  return {&(of.at->*which)};
}

struct Cuda {
  static constexpr bool kDevice = true;

  /// Item `index` of the array at byte `offset` of the block's shared memory.
  template <class T>
  static __device__ __forceinline__ Own<T> own(uint32_t offset, uint32_t index) {
    return {reinterpret_cast<T*>(own_memory() + offset) + index};
  }

  template <class F>
  __device__ __forceinline__ void for_each(int n, F&& f) const {
    for (int i = static_cast<int>(threadIdx.x); i < n; i += kCudaBlockThreads) f(i);
  }
  template <class F>
  __device__ __forceinline__ void for_each_shared(int n, F&& f) const {
    for_each(n, f);
  }
  template <class F>
  __device__ __forceinline__ void for_each_alone(int n, F&& f) const {
    if (threadIdx.x == 0)
      for (int i = 0; i < n; ++i) f(i);
    sync();
  }
  template <class F>
  __device__ __forceinline__ void leader(F&& f) const {
    if (threadIdx.x == 0) f();
  }
  __device__ __forceinline__ void sync() const { __syncthreads(); }
  __device__ __forceinline__ bool any(bool flag) const { return __syncthreads_or(flag ? 1 : 0) != 0; }

  /// Warps write their positions behind those of the warps before them; all threads return the total.
  __device__ __forceinline__ int compact(const uint8_t* keep, int n, int32_t* positions) const {
    constexpr int kWarps = kCudaBlockThreads / 32;
    __shared__ int warp_counts[kWarps];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
    int total = 0;
    for (int base = 0; base < n; base += kCudaBlockThreads) {
      const int i = base + thread;
      const bool kept = i < n && keep[i] != 0;
      const uint32_t votes = __ballot_sync(0xffffffffu, kept);
      if (lane == 0) warp_counts[warp] = __popc(votes);
      __syncthreads();
      int before = total;
      for (int w = 0; w < kWarps; ++w) {
        if (w < warp) before += warp_counts[w];
        total += warp_counts[w];
      }
      if (kept) positions[before + __popc(votes & ((1u << lane) - 1u))] = i;
      __syncthreads();
    }
    return total;
  }

  template <class Key>
  __device__ __forceinline__ void test_bits(const Key* keys, int n, Key min, uint64_t range, const uint32_t* bitmap,
                                            uint8_t* out) const {
    for_each(n, [&](int i) {
      const uint64_t offset = static_cast<uint64_t>(keys[i]) - static_cast<uint64_t>(min);
      const bool inside = offset < range;
      const uint64_t entry = inside ? offset : 0;
      out[i] = static_cast<uint8_t>(bitmap[entry >> 5] >> (entry & 31) & static_cast<uint32_t>(inside));
    });
  }

  __device__ __forceinline__ uint32_t fetch_add(uint32_t* counter, uint32_t value) const {
    return atomicAdd(counter, value);
  }
  /// Returns the former value; if that is `expected`, *target is now `wanted`.
  __device__ __forceinline__ uint32_t compare_and_swap(uint32_t* target, uint32_t expected, uint32_t wanted) const {
    return atomicCAS(target, expected, wanted);
  }
  /// Makes the thread's earlier stores visible to all that see its later ones.
  __device__ __forceinline__ void publish() const { __threadfence(); }
  /// Reads what other blocks have published, past this multiprocessor's cache, which does not see their stores.
  template <class T>
  __device__ __forceinline__ T load_shared(const T* from) const {
    if constexpr (sizeof(T) <= 8) {
      return *static_cast<const volatile T*>(from);
    } else {
      union {
        uint64_t words[2];
        T value;
      } read;
      static_assert(sizeof(T) == sizeof read.words);
      const auto* words = reinterpret_cast<const volatile uint64_t*>(from);
      read.words[0] = words[0];
      read.words[1] = words[1];
      return read.value;
    }
  }

  __device__ __forceinline__ void add(int64_t* target, int64_t value) const {
    atomicAdd(reinterpret_cast<unsigned long long*>(target), static_cast<unsigned long long>(value));
  }
  __device__ __forceinline__ void add(double* target, double value) const { atomicAdd(target, value); }
  __device__ __forceinline__ void add(float* target, float value) const { atomicAdd(target, value); }

  __device__ __forceinline__ void add(Own<uint32_t> target, int64_t value) const {
    atomicAdd(target.at, static_cast<unsigned>(value));
  }
  __device__ __forceinline__ void add(Own<int64_t> target, int64_t value) const { add_limbs<2>(target.at, value); }
  __device__ __forceinline__ void add(Own<double> target, double value) const { atomicAdd(target.at, value); }
  __device__ __forceinline__ void add(Own<float> target, float value) const { atomicAdd(target.at, value); }
  __device__ __forceinline__ void add_i128(Own<__int128> target, __int128 value) const {
    add_limbs<4>(target.at, value);
  }

  /// Adds every thread's value; called by all of them.
  __device__ __forceinline__ void add_all(int64_t* target, int64_t value) const {
    long long sum = value;
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_down_sync(0xffffffffu, sum, lanes);
    if ((threadIdx.x & 31) == 0 && sum != 0) add(target, static_cast<int64_t>(sum));
  }
  __device__ __forceinline__ void add_all(double* target, double value) const {
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
    if ((threadIdx.x & 31) == 0) add(target, value);
  }
  __device__ __forceinline__ void add_all(float* target, float value) const {
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(0xffffffffu, value, lanes);
    if ((threadIdx.x & 31) == 0) add(target, value);
  }
  __device__ __forceinline__ void add_all(__int128* target, __int128 value) const {
    for (int lanes = 16; lanes > 0; lanes /= 2) {
      const auto low = static_cast<unsigned long long>(value);
      const auto high = static_cast<unsigned long long>(static_cast<unsigned __int128>(value) >> 64);
      const unsigned __int128 other_low = __shfl_down_sync(0xffffffffu, low, lanes);
      const unsigned __int128 other_high = __shfl_down_sync(0xffffffffu, high, lanes);
      value += static_cast<__int128>(other_high << 64 | other_low);
    }
    if ((threadIdx.x & 31) == 0 && value != 0) add_i128(target, value);
  }

  __device__ __forceinline__ void mark(uint8_t* flag) const { *flag = 1; }
  /// Reads a word that others may change meanwhile.
  __device__ __forceinline__ int32_t look(const volatile int32_t* word) const { return *word; }
  /// Two limbs with a carry: the order of additions does not matter for the final sum.
  __device__ __forceinline__ void add_i128(__int128* target, __int128 value) const {
    auto* limbs = reinterpret_cast<unsigned long long*>(target);
    const auto low = static_cast<unsigned long long>(value);
    auto high = static_cast<unsigned long long>(static_cast<unsigned __int128>(value) >> 64);
    const unsigned long long before = atomicAdd(limbs, low);
    if (before + low < before) ++high;
    if (high != 0) atomicAdd(limbs + 1, high);
  }

  template <class T, class Better>
  __device__ __forceinline__ void improve(T* target, T value, Better better) const {
    if constexpr (sizeof(T) == 4)
      improve_as<unsigned>(target, value, better);
    else if constexpr (sizeof(T) == 8)
      improve_as<unsigned long long>(target, value, better);
    else if (better(value, *target))  // 128 bits: only called by for_each_alone
      *target = value;
  }

  template <class T, class Better>
  __device__ __forceinline__ void improve(Own<T> target, T value, Better better) const {
    improve(target.at, value, better);
  }

  template <class T, class F>
  __device__ __forceinline__ void combine(Own<T> target, T value, F f) const {
    combine(target.at, value, f);
  }
  template <class T, class F>
  __device__ __forceinline__ void combine(T* target, T value, F f) const {
    if constexpr (sizeof(T) == 4)
      combine_as<unsigned>(target, value, f);
    else
      combine_as<unsigned long long>(target, value, f);
  }

  __device__ __forceinline__ void prefetch(const void*) const {}

 private:
  static __device__ __forceinline__ char* own_memory() {
    alignas(16) __shared__ char memory[kOwnBytes];
    return memory;
  }

  /// As add_i128(), with carries. Most values are short, so that one addition is enough.
  template <int kLimbs, class T>
  __device__ __forceinline__ void add_limbs(T* target, T value) const {
    auto* limbs = reinterpret_cast<unsigned*>(target);
    unsigned carry = 0;
#pragma unroll
    for (int i = 0; i < kLimbs; ++i) {
      const unsigned limb = static_cast<unsigned>(value >> (32 * i)), added = limb + carry;
      carry = added < limb;
      if (added == 0) continue;
      carry += atomicAdd(limbs + i, added) > ~added;
    }
  }

  template <class Word, class T, class Better>
  __device__ __forceinline__ void improve_as(T* target, T value, Better better) const {
    union Cast {
      T value;
      Word word;
    };
    Cast wanted, seen;
    wanted.value = value;
    seen.value = *target;
    while (better(value, seen.value)) {
      const Word before = atomicCAS(reinterpret_cast<Word*>(target), seen.word, wanted.word);
      if (before == seen.word) return;
      seen.word = before;
    }
  }

  template <class Word, class T, class F>
  __device__ __forceinline__ void combine_as(T* target, T value, F f) const {
    Word seen = static_cast<Word>(*target);
    for (;;) {
      const Word wanted = static_cast<Word>(f(static_cast<T>(seen), value));
      const Word before = atomicCAS(reinterpret_cast<Word*>(target), seen, wanted);
      if (before == seen) return;
      seen = before;
    }
  }
};

}  // namespace strom::engine::platform
