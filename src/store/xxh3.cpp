// The library's header defines all functions here, so that programs with libstromkv need no other library.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "store/checksum.hpp"

namespace strom::store {

uint64_t xxh3(const void* data, size_t bytes) { return XXH3_64bits(data, bytes); }

}  // namespace strom::store
