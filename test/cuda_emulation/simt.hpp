// CUDA kernels as plain C++: a translation unit that includes this instead of the CUDA headers compiles kernel source
// with g++ or clang and runs it on the CPU, for unit tests, debuggers and sanitizers. No toolkit is needed.
//
// A CUDA thread is a fiber, a block is run by one OS thread, a warp is 32 fibers that run one after another between
// their meeting points. So threads of a block never race, and a missing barrier shows only as a wrong answer.
//
//   strom::simt::launch({.grid = dim3(4), .block = dim3(128), .dynamic_shared_bytes = 1024}, kernel, arguments…);
//
// launch() throws strom::simt::Error for a divergent barrier, a deadlock, a lane outside of its own mask, __trap(), and
// for an exception that a kernel throws; the text names file, line, block and thread.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>

#define __host__
#define __device__
#define __global__
#define __shared__ static thread_local
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
// Not an attribute: the standard library writes __attribute__((__noinline__)).
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)

// NOLINTBEGIN(readability-identifier-naming): CUDA's own names

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/// Set before a fiber runs.
inline thread_local uint3 threadIdx, blockIdx;
inline thread_local dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

namespace strom::simt {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct LaunchOptions {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  unsigned os_threads = 0;  // that run blocks; 0: one per processor
};

/// Where in the kernel's source a fiber waits.
struct SourceLine {
  const char* file;
  int line;
};

void run_grid(const LaunchOptions& options, const std::function<void()>& thread_body);

/// Runs the grid to its end. Shared variables keep their values from block to block, as rubbish on a device would.
template <class Kernel, class... Arguments>
void launch(const LaunchOptions& options, Kernel kernel, Arguments... arguments) {
  run_grid(options, [&] { kernel(arguments...); });
}

/// Of the block that is running: aligned to 128, filled with 0xcd at its start.
void* dynamic_shared();

enum class Reduction { kNone, kCount, kAnd, kOr };
int synchronize_block(SourceLine place, Reduction reduction, bool predicate);

/// Waits for all live lanes of `mask`, which bring a value each; `values[lane]` is valid until the next meeting.
const std::uint64_t* meet(SourceLine place, std::uint32_t mask, std::uint64_t value, std::uint32_t* live);
unsigned lane();
[[noreturn]] void fail(SourceLine place, const std::string& message);

// ---- what the macros below call

template <class T>
std::uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

/// `from` is the absolute lane to read; one outside of the lane's segment of `width` lanes reads itself.
template <class T>
T shuffle(SourceLine place, std::uint32_t mask, T value, int from, int width) {
  if (width < 1 || width > 32 || (width & (width - 1)) != 0) fail(place, "width of a shuffle is no power of two");
  std::uint32_t live = 0;
  const std::uint64_t* values = meet(place, mask, to_bits(value), &live);
  const int own = static_cast<int>(lane());
  if ((from ^ own) & ~(width - 1) || from < 0) from = own;
  if ((live >> from & 1) == 0) fail(place, "shuffle reads a lane that does not take part");
  return from_bits<T>(values[from]);
}

/// Counts from the start of the lane's segment.
template <class T>
T shuffle_indexed(SourceLine place, std::uint32_t mask, T value, int index, int width) {
  const int segment = static_cast<int>(lane()) & ~(width - 1);
  return shuffle(place, mask, value, segment | (index & (width - 1)), width);
}

inline std::uint32_t ballot(SourceLine place, std::uint32_t mask, bool predicate, std::uint32_t* live) {
  const std::uint64_t* values = meet(place, mask, predicate, live);
  std::uint32_t votes = 0;
  for (unsigned n = 0; n < 32; n++) {
    if (*live >> n & 1) votes |= static_cast<std::uint32_t>(values[n] & 1) << n;
  }
  return votes;
}

inline std::uint32_t ballot(SourceLine place, std::uint32_t mask, bool predicate) {
  std::uint32_t live = 0;
  return ballot(place, mask, predicate, &live);
}

inline bool all_of(SourceLine place, std::uint32_t mask, bool predicate) {
  std::uint32_t live = 0;
  const std::uint32_t votes = ballot(place, mask, predicate, &live);
  return votes == live;
}

template <class T>
std::uint32_t match_any(SourceLine place, std::uint32_t mask, T value) {
  std::uint32_t live = 0, peers = 0;
  const std::uint64_t* values = meet(place, mask, to_bits(value), &live);
  for (unsigned n = 0; n < 32; n++) {
    if ((live >> n & 1) && values[n] == to_bits(value)) peers |= 1u << n;
  }
  return peers;
}

template <class T>
std::uint32_t match_all(SourceLine place, std::uint32_t mask, T value, int* all_equal) {
  std::uint32_t live = 0;
  const std::uint64_t* values = meet(place, mask, to_bits(value), &live);
  *all_equal = 1;
  for (unsigned n = 0; n < 32; n++) {
    if ((live >> n & 1) && values[n] != to_bits(value)) *all_equal = 0;
  }
  return *all_equal ? live : 0;
}

template <class T, class F>
T reduce(SourceLine place, std::uint32_t mask, T value, F combine) {
  std::uint32_t live = 0;
  const std::uint64_t* values = meet(place, mask, to_bits(value), &live);
  T result = value;
  bool first = true;
  for (unsigned n = 0; n < 32; n++) {
    if ((live >> n & 1) == 0) continue;
    result = first ? from_bits<T>(values[n]) : combine(result, from_bits<T>(values[n]));
    first = false;
  }
  return result;
}

template <class T, class F>
T modify(T* place, F change) {
  std::atomic_ref<T> atomic(*place);
  T old = atomic.load(std::memory_order_relaxed);
  while (!atomic.compare_exchange_weak(old, change(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace strom::simt

#define STROM_SIMT_PLACE (strom::simt::SourceLine{__FILE__, __LINE__})
#define STROM_SIMT_WIDTH(...) (0 __VA_OPT__(+(__VA_ARGS__)) == 0 ? 32 : 0 __VA_OPT__(+(__VA_ARGS__)))

#define __syncthreads() ((void)strom::simt::synchronize_block(STROM_SIMT_PLACE, strom::simt::Reduction::kNone, false))
#define __syncthreads_count(p) strom::simt::synchronize_block(STROM_SIMT_PLACE, strom::simt::Reduction::kCount, (p))
#define __syncthreads_and(p) strom::simt::synchronize_block(STROM_SIMT_PLACE, strom::simt::Reduction::kAnd, (p))
#define __syncthreads_or(p) strom::simt::synchronize_block(STROM_SIMT_PLACE, strom::simt::Reduction::kOr, (p))
#define __syncwarp(...)                        \
  ((void)strom::simt::ballot(STROM_SIMT_PLACE, \
                             0u __VA_OPT__(+(__VA_ARGS__)) == 0u ? ~0u : 0u __VA_OPT__(+(__VA_ARGS__)), false))
#define __shfl_sync(m, v, n, ...) \
  strom::simt::shuffle_indexed(STROM_SIMT_PLACE, (m), (v), int(n), STROM_SIMT_WIDTH(__VA_ARGS__))
#define __shfl_up_sync(m, v, n, ...) \
  strom::simt::shuffle(STROM_SIMT_PLACE, (m), (v), int(strom::simt::lane()) - int(n), STROM_SIMT_WIDTH(__VA_ARGS__))
#define __shfl_down_sync(m, v, n, ...) \
  strom::simt::shuffle(STROM_SIMT_PLACE, (m), (v), int(strom::simt::lane()) + int(n), STROM_SIMT_WIDTH(__VA_ARGS__))
#define __shfl_xor_sync(m, v, n, ...) \
  strom::simt::shuffle(STROM_SIMT_PLACE, (m), (v), int(strom::simt::lane()) ^ int(n), STROM_SIMT_WIDTH(__VA_ARGS__))
#define __ballot_sync(m, p) strom::simt::ballot(STROM_SIMT_PLACE, (m), (p))
#define __any_sync(m, p) int(strom::simt::ballot(STROM_SIMT_PLACE, (m), (p)) != 0)
#define __all_sync(m, p) int(strom::simt::all_of(STROM_SIMT_PLACE, (m), (p)))
#define __match_any_sync(m, v) strom::simt::match_any(STROM_SIMT_PLACE, (m), (v))
#define __match_all_sync(m, v, all) strom::simt::match_all(STROM_SIMT_PLACE, (m), (v), (all))
#define __reduce_add_sync(m, v) \
  strom::simt::reduce(STROM_SIMT_PLACE, (m), (v), [](auto a, auto b) { return decltype(a)(unsigned(a) + unsigned(b)); })
#define __reduce_min_sync(m, v) \
  strom::simt::reduce(STROM_SIMT_PLACE, (m), (v), [](auto a, auto b) { return b < a ? b : a; })
#define __reduce_max_sync(m, v) \
  strom::simt::reduce(STROM_SIMT_PLACE, (m), (v), [](auto a, auto b) { return a < b ? b : a; })
#define __reduce_and_sync(m, v) strom::simt::reduce(STROM_SIMT_PLACE, (m), (v), [](auto a, auto b) { return a & b; })
#define __reduce_or_sync(m, v) strom::simt::reduce(STROM_SIMT_PLACE, (m), (v), [](auto a, auto b) { return a | b; })
#define __trap() strom::simt::fail(STROM_SIMT_PLACE, "trap")

// Lanes run one after another, so none is known to be active but the one that asks.
inline unsigned __activemask() { return 1u << strom::simt::lane(); }
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_block() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __threadfence_system() { std::atomic_thread_fence(std::memory_order_seq_cst); }

inline int __popc(unsigned a) { return std::popcount(a); }
inline int __popcll(unsigned long long a) { return std::popcount(a); }
inline int __clz(int a) { return std::countl_zero(static_cast<unsigned>(a)); }
inline int __clzll(long long a) { return std::countl_zero(static_cast<unsigned long long>(a)); }
inline int __ffs(int a) { return __builtin_ffs(a); }
inline int __ffsll(long long a) { return __builtin_ffsll(a); }
inline int __mulhi(int a, int b) { return static_cast<int>((static_cast<long long>(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
inline long long __mul64hi(long long a, long long b) {
  return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline float __int_as_float(int a) { return std::bit_cast<float>(a); }
inline int __float_as_int(float a) { return std::bit_cast<int>(a); }
inline unsigned __float_as_uint(float a) { return std::bit_cast<unsigned>(a); }
inline float __uint_as_float(unsigned a) { return std::bit_cast<float>(a); }
inline double __longlong_as_double(long long a) { return std::bit_cast<double>(a); }
inline long long __double_as_longlong(double a) { return std::bit_cast<long long>(a); }
template <class T>
T __ldg(const T* p) {
  return *p;
}

template <class T>
T atomicAdd(T* p, std::type_identity_t<T> v) {
  return strom::simt::modify(p, [v](T old) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(v));
    } else {
      return old + v;
    }
  });
}
template <class T>
T atomicSub(T* p, std::type_identity_t<T> v) {
  return strom::simt::modify(p, [v](T old) {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) - static_cast<std::make_unsigned_t<T>>(v));
  });
}
template <class T>
T atomicExch(T* p, std::type_identity_t<T> v) {
  return std::atomic_ref<T>(*p).exchange(v, std::memory_order_relaxed);
}
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> expected, std::type_identity_t<T> v) {
  std::atomic_ref<T>(*p).compare_exchange_strong(expected, v, std::memory_order_relaxed);
  return expected;
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> v) {
  return strom::simt::modify(p, [v](T old) { return v < old ? v : old; });
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> v) {
  return strom::simt::modify(p, [v](T old) { return old < v ? v : old; });
}
template <class T>
T atomicAnd(T* p, std::type_identity_t<T> v) {
  return std::atomic_ref<T>(*p).fetch_and(v, std::memory_order_relaxed);
}
template <class T>
T atomicOr(T* p, std::type_identity_t<T> v) {
  return std::atomic_ref<T>(*p).fetch_or(v, std::memory_order_relaxed);
}
template <class T>
T atomicXor(T* p, std::type_identity_t<T> v) {
  return std::atomic_ref<T>(*p).fetch_xor(v, std::memory_order_relaxed);
}

// NOLINTEND(readability-identifier-naming)
