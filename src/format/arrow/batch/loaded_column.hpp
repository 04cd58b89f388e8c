// Where a record batch is, and what loading a column of it gives. Used by readers and by whoever asks them.
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

/// A column of a record batch, and what it points to where that is not the file itself.
struct LoadedColumn : columnar::ColumnView {
  std::shared_ptr<const void> memory;
};

/// Memory of columns that was given back, to be used for others. A query has one for all of its files.
class BufferPool;
std::shared_ptr<BufferPool> make_buffer_pool();

}  // namespace strom::format::arrow
