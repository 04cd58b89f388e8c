// Checks a store table's memory and files. May ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Checks every version, the index, the counters of chunks, and the files. Returns the number of rows that the current
/// snapshot sees. Errors: XX001, which says what is wrong and where.
uint64_t check_table(Table* table);

}  // namespace strom::pg::store
