// The commands of strom-kv.
#pragma once

#include "base/status.hpp"
#include "strom-kv/settings.hpp"

namespace strom::kv_tool {

/// get and mget: a line of JSON for each key, `null` where there is no row. kCancelled-free; *is_missing: a key had
/// none.
Status get_rows(const Settings& settings, bool* is_missing);
/// put and del, by SQL.
Status put_row(const Settings& settings);
Status delete_rows(const Settings& settings, bool* is_missing);
/// dump: all rows.
Status dump_rows(const Settings& settings);
Status verify_region(const Settings& settings);
/// stat: what the table is like.
Status print_statistics(const Settings& settings);
/// bench: gets of random keys, for some seconds.
Status run_bench(const Settings& settings);

}  // namespace strom::kv_tool
