// A copy of an Arrow file with its rows in another order, cut into record batches anew, with statistics.
#pragma once

#include <string>
#include <vector>

#include "arrow_files/columns.hpp"
#include "base/status.hpp"
#include "cli/progress.hpp"
#include "format/staged_file.hpp"

namespace strom::tool {

struct SortedCopy {
  std::vector<int> sort_columns;  // the first decides, those behind it decide among equals
  int64_t batch_rows = 0;         // of the copy's record batches
  int threads = 1;
  std::string path;
  bool force = false;  // replace a file that exists
  format::PageCache cache = format::PageCache::kKeep;
};

/// Ascending, as PostgreSQL orders values: nulls last, NaN above all numbers, text by its bytes. Rows that are equal
/// stay in their order. Memory: 16 to 32 bytes for each row, and one record batch. Errors: kUnsupported (a column that
/// cannot be read or written), kCorruptFile, kFileChanged, kOutOfMemory, kIoError.
Status write_sorted(const format::arrow::FileReader& file, const SortedCopy& copy, Progress& progress);

}  // namespace strom::tool
