// How an Arrow file gets a new end, and how the last valid end is found after a power cut. A reader finds everything by
// the file's last bytes, so they must be there as soon as the file has its new size. docs/dev/arrow.md, "Writing".
// Private to src/format.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strom::format::arrow {

/// The size of files that were made longer is a multiple of this: a block that is given to the disk at once.
inline constexpr int64_t kEndUnit = 4096;

/// The new size of a file of `size` bytes that gets `more` bytes: its last block is a new one.
int64_t longer_size(int64_t size, int64_t more);

/// Makes the file longer. `bytes` are its last bytes, up to `end`, a value of longer_size(). They are on the disk
/// before the new size is, where the file system can write past the page cache. Elsewhere the size may come first, and
/// the bytes between the old and the new end then read as zeros. 0 or an errno.
int write_new_end(int fd, const void* bytes, size_t size, int64_t end);

/// The size of a file up to its valid end. If the file ends as an Arrow file only before zeros at its end, these are
/// not counted. For a file that never was an Arrow file, `size`.
int64_t size_in_force(const uint8_t* data, int64_t size);

}  // namespace strom::format::arrow
