// CREATE TABLE for what is dumped, and the names of files and columns in SQL.
#pragma once

#include <string>

#include "columnar/nested.hpp"

namespace strom::tool {

/// `CREATE TABLE name (…)` for the columns of a file, with PostgreSQL's types. `prefix`: what stands before TABLE.
std::string create_table(const columnar::NestedSchema& schema, const std::string& name, const std::string& prefix = "");

/// In double quotes.
std::string quoted_name(const std::string& name);
/// In single quotes, as standard SQL has it.
std::string quoted_literal(const std::string& text);

}  // namespace strom::tool
