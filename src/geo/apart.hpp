// Marks long functions with many callers, so that the compiler does not inline them. They are local to their source
// file, because the same header is compiled for several instruction sets.
#pragma once

#include "base/single_source.hpp"

#if defined(__CUDACC__)
#define STROM_GEO_APART [[maybe_unused]] static __host__ __device__ __noinline__
#else
#define STROM_GEO_APART [[maybe_unused]] static __attribute__((noinline))
#endif
