// Parts of memory.cpp and load.cpp for each other.
#pragma once

#include <string>

#include "pg/store/memory.hpp"

namespace strom::pg::store {

Status changed_layout(const char* name);

/// posix_fallocate() of the table's memory. As rows::Grow.
bool grow_memory(void* table, uint64_t offset, uint64_t bytes);

/// Maps the file of table->descriptor. May throw.
void map_memory(Table* table);
void unmap_memory(Table* table);

/// Maps a table's memory by its path, with what the base file says of its columns. False: it is not of this run, or not
/// ready. May throw.
bool attach_without_catalogs(Table* table, const std::string& path);

}  // namespace strom::pg::store
