// The two platforms. Single-source code (engine/block, expr, agg, op) is written against a platform type P with
//   for_each(n, f)   f(i) for every row i < n of the tile: a plain loop on the CPU, shared by a block's threads on CUDA
//   for_each_shared  the same for iterations that may update the same memory
//   for_each_alone   by one thread, in order
//   leader(f)        f() once
//   sync()           barrier of the tile's threads; nothing on the CPU
//   any(flag)        true when flag is true for any thread
//   compact(...)     positions of set bytes
//   test_bits(...)   membership of keys in a bitmap
//   mark(flag)       sets a byte that other threads may set, too
//   look(word)       an int32 that the host or another thread may change meanwhile
//   add_all          adds a value of each of the tile's threads to one accumulator
//   add/min/max/...  updates of accumulators that other threads may update, too
//   own              accumulators in the block's shared memory; on a device only
// and functions fetch_add(counter, value), compare_bytes(), copy_bytes(), find_bytes(), and the constant kHostMath:
// exp(), sin() ... are the host's; and includes nothing but this header and plain data. A compiler or platform #ifdef
// stands here and in the headers of this folder only.
#pragma once

namespace strom::engine::platform {

/// Bytes of a block's shared memory for its accumulators. Together with compact()'s memory, 8 blocks take 64 kB, which
/// a multiprocessor of any supported architecture has. The registers do not allow more blocks.
inline constexpr int kOwnBytes = 8064;

}  // namespace strom::engine::platform

#if defined(STROM_PLATFORM_CUDA)
#include "engine/platform/cuda.cuh"
#else
#include "engine/platform/cpu.hpp"
#endif
