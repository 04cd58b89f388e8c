// Commands of strom-kv by messages: the server reads and changes rows, and nothing is mapped.
#pragma once

#include "base/status.hpp"
#include "strom-kv/settings.hpp"

namespace strom::kv_tool {

/// get, mget, put, del and stat. Sets *is_missing when a key has no row.
Status run_by_messages(const Settings& settings, bool* is_missing);

}  // namespace strom::kv_tool
