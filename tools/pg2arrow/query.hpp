// The SQL that each worker runs: tokens replaced, a table cut into ranges of pages, joined queries, casts.
#pragma once

#include <string>
#include <vector>

#include "pg2arrow/catalog.hpp"
#include "pg2arrow/connection.hpp"
#include "pg2arrow/settings.hpp"

namespace strom::pg2arrow {

struct Queries {
  std::string shown;                 // as the user wrote it, for the file's metadata
  std::vector<std::string> workers;  // one for each worker
  double rows = 0;                   // estimated, of all workers together
};

/// The queries for a table or for a command, of which settings has one. Errors: kInvalidParameter for tokens and
/// options that do not fit together; those of the server.
Result<Queries> make_queries(Connection& connection, const Settings& settings);

/// With the columns' casts, and the partition columns as text behind all others.
std::string with_casts(const Connection& connection, const std::string& query, const std::vector<Column>& columns,
                       const std::vector<size_t>& keys);

/// The planner's guess at the rows of a query.
Result<double> estimated_rows(Connection& connection, const std::string& query);

/// `table` as the user wrote it, quoted when it is the plain name of a table that is there.
Result<std::string> table_reference(Connection& connection, const std::string& table);

}  // namespace strom::pg2arrow
