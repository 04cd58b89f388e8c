// Parts of memory.cpp and load.cpp for each other.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

inline constexpr const char* kMemoryFolder = "/dev/shm";

Status changed_layout(const char* name);

/// posix_fallocate() of the table's memory. As rows::Grow.
bool grow_memory(void* table, uint64_t offset, uint64_t bytes);

/// Maps the file of table->descriptor. May throw.
void map_memory(Table* table);

}  // namespace strom::pg::store
