// Statistics of one Arrow file: what it says of itself, and what its values are.
#pragma once

#include <map>
#include <vector>

#include "arrow_files/columns.hpp"
#include "base/status.hpp"
#include "cli/progress.hpp"
#include "format/arrow/statistics/value_range.hpp"

namespace strom::tool {

/// By column, for each record batch.
using Ranges = std::map<int, std::vector<format::arrow::ValueRange>>;

/// Of these columns, by reading them with `threads` threads. Errors: kCorruptFile, kFileChanged.
Result<Ranges> compute_ranges(const format::arrow::FileReader& file, const std::vector<int>& columns, int threads,
                              Progress& progress);

/// What the file's metadata states of these columns; those of which it states nothing are left out.
Ranges read_ranges(const format::arrow::FileReader& file, const std::vector<int>& columns);

/// Puts the statistics into the file's footer; columns without any lose theirs. Errors: those of edit_footer().
Status store_ranges(const format::arrow::FileReader& file, const Ranges& ranges);

}  // namespace strom::tool
