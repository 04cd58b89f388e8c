// How much shared memory the column cache may take, and the segments of dynamic shared memory that it takes. Used by
// shared_columns.cpp alone.
#pragma once

#include "pg/boundary/boundary.hpp"

namespace strom::pg::cache {

/// Nobody has set pg_strom.column_cache_memory: the limit is a part of the machine's memory.
bool is_usual();
/// The limit of all segments, in bytes.
uint64_t allowed_bytes();

/// A new segment of that size, which stays when the session ends; nullptr when it would not leave enough to others, or
/// cannot be had.
dsm_segment* make_segment(uint64_t size);
/// One that another session has made; nullptr when it is gone.
dsm_segment* attach_segment(dsm_handle handle);

}  // namespace strom::pg::cache
