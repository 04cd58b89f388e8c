// The SQL that each worker runs: tokens replaced, a table cut into ranges of its primary key.
#pragma once

#include <string>
#include <vector>

#include "mysql2arrow/connection.hpp"

namespace strom::mysql2arrow {

struct Table {
  std::string database, name;  // the database is empty for the session's own
  std::string reference() const;
};

struct Queries {
  std::string shown;               // for the file's metadata
  std::vector<std::string> parts;  // each worker takes the next one that nobody has taken
  size_t workers = 0;              // at most as many as parts
  double rows = 0;                 // about so many; 0: not known
};

/// `DATABASE.TABLE`, or the name of a table of the session's database.
Result<Table> find_table(Connection& connection, const std::string& name);

/// Base tables of the session's database.
Result<std::vector<Table>> all_tables(Connection& connection);

/// For a table, or for settings.command when `table` is nullptr.
Result<Queries> make_queries(Connection& connection, const Settings& settings, const Table* table);

}  // namespace strom::mysql2arrow
