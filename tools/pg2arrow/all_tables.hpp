// --all-tables: every table of a database in one snapshot.
#pragma once

#include "base/status.hpp"
#include "cli/progress.hpp"
#include "pg2arrow/connection.hpp"
#include "pg2arrow/dump.hpp"
#include "pg2arrow/settings.hpp"

namespace strom::pg2arrow {

/// Into the folder settings.output.path: SCHEMA.TABLE.arrow, and create_tables.sql.
Result<DumpResult> dump_all_tables(Connection& connection, const Settings& settings, tool::Progress& progress);

}  // namespace strom::pg2arrow
