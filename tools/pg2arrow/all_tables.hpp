// --all-tables: every table of a database in one snapshot, and the SQL that makes foreign tables of the files;
// --schema: the table that a file would be.
#pragma once

#include "base/status.hpp"
#include "columnar/nested.hpp"
#include "common/progress.hpp"
#include "pg2arrow/connection.hpp"
#include "pg2arrow/dump.hpp"
#include "pg2arrow/settings.hpp"

namespace strom::pg2arrow {

/// Into the folder settings.output.path, which is made if need be: SCHEMA.TABLE.arrow, and create_tables.sql.
Result<DumpResult> dump_all_tables(Connection& connection, const Settings& settings, tool::Progress& progress);

/// `CREATE TABLE name (…)` for the columns of a file.
std::string create_table(const columnar::NestedSchema& schema, const std::string& name, const std::string& prefix = "");

}  // namespace strom::pg2arrow
