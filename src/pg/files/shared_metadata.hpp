// What sessions know of the files of tables of thousands of them, handed from one to the next through the memory of the
// column cache, so that a new session does not read all footers. Used by Source. Main thread; may throw.
#pragma once

#include <span>

#include "pg/boundary/postgres.hpp"
#include "pg/files/file_list.hpp"

namespace strom::pg::files {

/// Before the files of a table are asked for: what others know of them goes to this process's cache, once.
void take_shared_metadata(Oid relid);
/// After that: others may have what this process has found out, when it is worth the while.
void offer_shared_metadata(Oid relid, std::span<const FileEntry> files);
/// Bytes of all tables.
int64_t shared_metadata_bytes();

}  // namespace strom::pg::files
