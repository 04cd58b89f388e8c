// Marks functions of the lower layers that device code calls, too, and what these share.
#pragma once

#if defined(__CUDACC__)
#define STROM_BASE_INLINE __host__ __device__ __forceinline__
#else
#define STROM_BASE_INLINE inline __attribute__((always_inline))
#endif

namespace strom::base {

/// Exactly one load, so that what was checked is what is used although the bytes may change under us. `address` is
/// aligned.
template <class T>
STROM_BASE_INLINE T load_once(const void* address) {
  return *static_cast<const volatile T*>(address);
}

}  // namespace strom::base
