// Facts about an Arrow table's files from their metadata, for pgstrom.arrow_files() and pgstrom.doctor(). Reads no
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

/// Raises an error unless `relid` is an Arrow table that the current role may read. May ereport.
void require_readable_table(Oid relid);

struct FileFacts {
  int64_t rows = 0;
  std::string codec;                    // empty: nothing is compressed
  std::vector<std::string> statistics;  // columns that have some
  std::vector<std::string> order;       // "a", "b DESC": columns by which the record batches are in order
};
/// Throws StatusError, PostgresError.
FileFacts facts_of(const FileReader& file);

/// True if statistics can rule out a record batch of these files: some column has two batches whose ranges of values do
/// not overlap. Throws StatusError, PostgresError.
bool can_skip_batches(std::span<const std::shared_ptr<const FileReader>> files);

}  // namespace strom::pg::sqlfn
