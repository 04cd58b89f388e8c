// Memory that is read at random places, in pages of 2 MB: a look-up in small pages waits for the page tables as long as
// for the memory. Used for store tables, published regions and their clients.
#pragma once

#include <cstdint>

namespace strom::store {

inline constexpr uint64_t kHugePage = uint64_t{2} << 20;

/// Maps the first `bytes` of a file, shared, at an address where huge pages can be. nullptr, with errno: it cannot.
void* map_shared(int descriptor, uint64_t bytes, int protection) noexcept;

/// Makes huge pages of those bytes [begin, end) of a mapping by map_shared() that fill some; they have memory already.
/// Whoever maps the file sees them so. Where the system has none, nothing changes but the time that look-ups take.
void collapse(void* memory, uint64_t begin, uint64_t end) noexcept;

}  // namespace strom::store
