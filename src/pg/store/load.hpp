// Makes a store table's memory from its files.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Reads base file and redo log into new memory. The memory gets its name when it is complete. May throw: kCorruptFile,
/// errors of opening files, kOutOfMemory.
void make_memory(Table* table, uint64_t incarnation, int tranche, uint64_t layout_hash);

}  // namespace strom::pg::store
