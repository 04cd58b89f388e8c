// Maps memory that is read at random places in pages of 2 MB. With small pages, a look-up waits as long for the page
// tables as for the memory. Used for store tables, published regions and their clients.
#pragma once

#include <cstdint>

namespace strom::store {

inline constexpr uint64_t kHugePage = uint64_t{2} << 20;

/// Maps the first `bytes` bytes of a file, shared, at an address that allows huge pages. nullptr on failure, see errno.
void* map_shared(int descriptor, uint64_t bytes, int protection) noexcept;

/// Turns the part of bytes [begin, end) that fills whole huge pages into huge pages. The mapping is by map_shared().
/// Holes of the file get memory. All processes that map the file benefit. If the system has no huge pages, only
/// look-ups are slower, and holes stay.
void collapse(void* memory, uint64_t begin, uint64_t end) noexcept;

/// Gives memory to holes in bytes [offset, offset + bytes) of a file. False: none is left, and touching the mapping
/// there would end the process (SIGBUS).
bool allocate(int descriptor, uint64_t offset, uint64_t bytes) noexcept;

}  // namespace strom::store
