// Functions that memory.cpp and load.cpp share.
#pragma once

#include <string>

#include "pg/store/memory.hpp"

namespace strom::pg::store {

Status changed_layout(const char* name);

/// posix_fallocate() for the table's memory; a rows::Grow function.
bool grow_memory(void* table, uint64_t offset, uint64_t bytes);
/// Punches a hole into the table's memory. A rows::Shrink.
void shrink_memory(void* table, uint64_t offset, uint64_t bytes);

/// Maps the file of table->descriptor. May throw.
void map_memory(Table* table);
void unmap_memory(Table* table);

/// Maps a table's memory by its path. The columns come from the base file. False: the memory is not ready or not of
/// this run. May throw.
bool attach_without_catalogs(Table* table, const std::string& path);

}  // namespace strom::pg::store
