// The location of a record batch, and a loaded column of it. Used by readers and their callers.
#pragma once

#include <cstdint>
#include <memory>

#include "columnar/batch.hpp"

namespace strom::format::arrow {

/// Place of one record batch, for messages and statistics.
struct BatchLocation {
  int64_t offset = 0;     // of the encapsulated message in the file
  int32_t meta_size = 0;  // bytes of metadata
  int64_t body_size = 0;  // bytes of buffers
};

/// A column of a record batch, and the memory that it points to where that is not the file itself.
struct LoadedColumn : columnar::ColumnView {
  std::shared_ptr<const void> memory;
};

/// Memory of columns that was given back for reuse. A query has one pool for all of its files.
class BufferPool;
std::shared_ptr<BufferPool> make_buffer_pool();

}  // namespace strom::format::arrow
