// What the metadata of an Arrow table's files say of them: for pgstrom.arrow_files() and pgstrom.doctor(). Reads no
// values.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "format/arrow/read/reader.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::sqlfn {

using format::arrow::FileReader;

/// Raises an error unless the current role may read the table, which is one over Arrow files. May ereport.
void require_readable_table(Oid relid);

struct FileFacts {
  int64_t rows = 0;
  std::string codec;                    // empty: nothing is compressed
  std::vector<std::string> statistics;  // columns that have some
  std::vector<std::string> order;       // "a", "b DESC": columns whose record batches follow one another so
};
/// Throws StatusError, PostgresError.
FileFacts facts_of(const FileReader& file);

/// Whether statistics can rule out a record batch of these files: some column has two whose values do not meet. Throws
/// likewise.
bool can_skip_batches(std::span<const std::shared_ptr<const FileReader>> files);

}  // namespace strom::pg::sqlfn
