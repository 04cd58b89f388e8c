// Checks every entry and record of a published region. Used by `strom-kv verify`, `pgstrom.store_check()` and tests.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/status.hpp"
#include "store/region/format.hpp"

namespace strom::store::region {

struct CheckCounts {
  uint64_t rows = 0, payload_bytes = 0, record_bytes = 0;
  uint64_t first_bucket = 0, second_bucket = 0, third_bucket = 0, stash = 0;  // number of keys found in each
};

using EachRecord = std::function<Status(std::string_view key, std::string_view payload, bool has_nulls)>;

/// Checks the region, which nobody may change meanwhile. Errors: kCorruptFile, which names the bucket, the slot and the
/// offset. `each` may be empty; its first failure ends the check.
Result<CheckCounts> check(const void* memory, uint64_t bytes, const EachRecord& each = {});

}  // namespace strom::store::region
