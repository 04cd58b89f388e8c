// CREATE TABLE for what is dumped.
#pragma once

#include <set>
#include <string>

#include "arrow_files/named_type.hpp"
#include "base/status.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::tool {

/// CREATE TABLE for the columns of a file, with the types that its metadata name, those of users among them.
/// `reference`: the name in SQL. A foreign table over `file`, where that is not empty.
std::string create_dumped_table(const columnar::Schema& schema, const std::string& reference,
                                const std::string& file = "");

/// CREATE SCHEMA for a schema that may not be there; empty for public and for none.
std::string create_schema(const std::string& name);

/// What makes the types that the file's metadata name and that are not built in, where they are not there: extensions,
/// enums with the file's labels, composite types, and domains for all others. Statements and types in `done` are left
/// out, and added to it. Errors: those of reading the file.
Result<std::string> type_definitions(const format::arrow::ExistingFile& file, std::set<std::string>& done);

}  // namespace strom::tool
