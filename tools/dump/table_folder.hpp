// Many tables into one folder: a file for each, and the SQL that makes foreign tables of the files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dump/settings.hpp"

namespace strom::tool {

struct SourceTable {
  std::string file;         // name of its file, without the ending
  std::string shown;        // as messages name it
  std::string reference;    // as PostgreSQL's SQL names it
  std::string schema = {};  // that the table is in, if it is to be made
};

/// Into the folder settings.output.path, which is made if need be: FILE.arrow for each table, and create_tables.sql.
/// `dump` writes a table's file. With settings.resume tables whose file is there are left out.
Result<DumpResult> dump_tables(const DumpSettings& settings, const std::vector<SourceTable>& tables,
                               const std::function<Result<DumpResult>(size_t index, const std::string& path)>& dump);

}  // namespace strom::tool
