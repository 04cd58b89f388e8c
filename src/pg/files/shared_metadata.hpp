// Metadata of the files of tables with thousands of files. Sessions pass them on through the memory of the column
// cache, so that a new session does not read all footers. Used by Source. Main thread; may throw.
#pragma once

#include <span>

#include "pg/boundary/postgres.hpp"
#include "pg/files/file_list.hpp"

namespace strom::pg::files {

/// Called before the files of a table are opened. Copies what other sessions know about them to this process's cache,
/// once.
void take_shared_metadata(Oid relid);
/// Called after the files are opened. Shares what this process has found out with other sessions, if that is worth it.
void offer_shared_metadata(Oid relid, std::span<const FileEntry> files);
/// Bytes that the metadata of all tables take.
int64_t shared_metadata_bytes();

}  // namespace strom::pg::files
