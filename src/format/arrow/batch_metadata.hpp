// Custom metadata of record batches, which some writers have: among others statistics, under the keys
// min_max_stats.COLUMN, as LOWEST,HIGHEST. Used by arrow-info and arrowstat.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/schema.hpp"

namespace strom::format::arrow {

inline constexpr std::string_view kBatchRangePrefix = "min_max_stats.";

/// Of all record batches of a file. Errors: those of opening it; kCorruptFile.
Result<std::vector<columnar::KeyValues>> batch_metadata(const std::string& path);

}  // namespace strom::format::arrow
