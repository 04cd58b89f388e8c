// Dumping one query or table: sessions that share a snapshot, a thread for each, record batches into the output.
#pragma once

#include "cli/progress.hpp"
#include "mysql2arrow/connection.hpp"
#include "mysql2arrow/settings.hpp"

namespace strom::mysql2arrow {

using tool::DumpResult;

Result<DumpResult> dump(const Settings& settings, tool::Progress& progress);
/// Every table of the database, in one snapshot, into the folder settings.output.path.
Result<DumpResult> dump_all_tables(const Settings& settings, tool::Progress& progress);

}  // namespace strom::mysql2arrow
