// CREATE TABLE for the columns of an Arrow file, with the types that Arrow_Fdw gives them.
#pragma once

#include <string>
#include <vector>

#include "columnar/schema.hpp"

namespace strom::tool {

struct SqlTable {
  std::string name;
  std::string tablespace;       // empty: none
  std::string partition_of;     // empty: none
  std::string partition_bound;  // FOR VALUES …; empty: DEFAULT
  std::string foreign_file;     // not empty: a foreign table over this file
};

/// The statement, with its semicolon and line end. Columns that cannot be read are comments. The name may have a schema
/// before a dot.
std::string create_table(const std::vector<columnar::Field>& fields, const SqlTable& table);

/// Names for the columns, as IMPORT FOREIGN SCHEMA gives them: what is too long is cut, what is empty or there already
/// is given another name.
std::vector<std::string> column_names(const std::vector<columnar::Field>& fields);

/// In double quotes; the parts of a name with a schema one by one.
std::string quote_identifier(const std::string& name);
std::string quote_table_name(const std::string& name);

}  // namespace strom::tool
