// How an Arrow file gets a new end, and how the last one that counts is found after a power cut. A reader finds
// everything by the file's last bytes, so that they have to be there whenever the file has its new size.
// docs/dev/arrow.md, "Writing". Private to src/format.
#pragma once

#include <cstddef>
#include <cstdint>

namespace strom::format::arrow {

/// Files that were made longer end at a multiple of it: a block that a disk is given at once.
inline constexpr int64_t kEndUnit = 4096;

/// Where a file of `size` bytes ends when it has `more` bytes more: its last block is a new one.
int64_t longer_size(int64_t size, int64_t more);

/// Makes the file longer: `bytes` are its last ones, up to `end`, which is one of longer_size(). They are on the disk
/// before the size is, where the file system writes past the page cache; elsewhere the size may come first, and what is
/// between the old end and the new one reads as zeros then. 0 or an errno.
int write_new_end(int fd, const void* bytes, size_t size, int64_t end);

/// The size of a file whose end counts: that of `data`, or without zeros at its end, when it ends as an Arrow file
/// there and not here. Files that never were Arrow files have the size that they have.
int64_t size_in_force(const uint8_t* data, int64_t size);

}  // namespace strom::format::arrow
