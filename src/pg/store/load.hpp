// Makes a store table's memory from its files.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Reads base file and redo log into new memory, which gets its name when it is whole. May throw: kCorruptFile, errors
/// of opening, kOutOfMemory.
void make_memory(Table* table, uint64_t incarnation, int tranche, uint64_t layout_hash);

}  // namespace strom::pg::store
