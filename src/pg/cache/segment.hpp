// The limit of the column cache's shared memory, and its segments of dynamic shared memory. Used by shared_columns.cpp
// only.
#pragma once

#include "pg/boundary/boundary.hpp"

namespace strom::pg::cache {

/// True when nobody has set pg_strom.column_cache_memory: the limit is then a part of the machine's memory.
bool is_usual();
/// The limit for all segments together, in bytes.
uint64_t allowed_bytes();

/// A new segment of `size` bytes, which outlives the session. nullptr when too little memory would be left to others,
/// or when the server cannot make it.
dsm_segment* make_segment(uint64_t size);
/// Attaches a segment that another session has made; nullptr when it is gone.
dsm_segment* attach_segment(dsm_handle handle);

}  // namespace strom::pg::cache
