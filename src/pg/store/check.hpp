// Whether a store table's memory and files are as they should be. May ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Looks at every version, at the index, at the counters of chunks, and at the files. Returns how many rows the current
/// snapshot sees. Errors: XX001, which says what is wrong and where.
uint64_t check_table(Table* table);

}  // namespace strom::pg::store
