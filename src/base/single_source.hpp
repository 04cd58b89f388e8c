// Marks functions of the lower layers that device code calls, too.
#pragma once

#if defined(__CUDACC__)
#define STROM_BASE_INLINE __host__ __device__ __forceinline__
#else
#define STROM_BASE_INLINE inline __attribute__((always_inline))
#endif
