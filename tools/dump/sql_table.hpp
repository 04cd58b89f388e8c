// CREATE TABLE for what is dumped, and the names of files and columns in SQL.
#pragma once

#include <set>
#include <string>

#include "base/status.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/writer.hpp"

namespace strom::tool {

/// `CREATE TABLE name (…)` for the columns of a file, with PostgreSQL's types. `prefix`: what stands before TABLE.
std::string create_table(const columnar::Schema& schema, const std::string& name, const std::string& prefix = "");

/// CREATE SCHEMA for a schema that may not be there; empty for public and for none.
std::string create_schema(const std::string& name);

/// What makes the types that the file's metadata name and that are not built in, where they are not there: extensions,
/// enums with the file's labels, composite types, and domains for all others. Statements and types in `done` are left
/// out, and added to it. Errors: those of reading the file.
Result<std::string> type_definitions(const format::arrow::ExistingFile& file, std::set<std::string>& done);

/// In double quotes.
std::string quoted_name(const std::string& name);
/// In single quotes, as standard SQL has it.
std::string quoted_literal(const std::string& text);

}  // namespace strom::tool
