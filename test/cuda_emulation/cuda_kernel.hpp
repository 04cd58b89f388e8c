// For kernel source, and tests of it, that are compiled both ways: by nvcc for the PTX interpreter, and by a host
// compiler over simt.hpp.
#pragma once

#if defined(__CUDACC__)

/// The block's dynamic shared memory, as an array of T.
#define STROM_DYNAMIC_SHARED(T, name)                                    \
  extern __shared__ __align__(128) unsigned char strom_dynamic_shared[]; \
  T* name = reinterpret_cast<T*>(strom_dynamic_shared)

/// STROM_LAUNCH(kernel, grid, block, dynamic shared bytes, arguments…)
#define STROM_LAUNCH(kernel, grid, block, shared_bytes, ...) kernel<<<(grid), (block), (shared_bytes)>>>(__VA_ARGS__)

#else

#include "cuda_emulation/simt.hpp"

#define STROM_DYNAMIC_SHARED(T, name) T* name = static_cast<T*>(strom::simt::dynamic_shared())

#define STROM_LAUNCH(kernel, grid, block, shared_bytes, ...) \
  strom::simt::launch({(grid), (block), (shared_bytes), 0}, kernel __VA_OPT__(, ) __VA_ARGS__)

#endif
