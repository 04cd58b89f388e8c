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
  std::vector<std::string> workers;  // one for each worker, without what is joined
};

/// The queries for a table or for a command, of which settings has one. Errors: kInvalidParameter for tokens and
/// options that do not fit together; those of the server.
Result<Queries> make_queries(Connection& connection, const Settings& settings);

/// Says so when the workers' parts of a query given by -c leave out rows, as far as its text shows how it is divided.
Status warn_of_lost_rows(Connection& connection, const Settings& settings);

/// The queries that settings joins, in which $(name) has become a column of `j0`, the first query. `columns` are its.
Result<std::vector<std::string>> joined_queries(const Connection& connection, const Settings& settings,
                                                const std::vector<ResultColumn>& columns);

/// FROM clause that joins them as lateral sub-queries j1, j2, …, of which the planner makes ordinary joins.
std::string join_clause(const Connection& connection, const Settings& settings, const std::string& query,
                        const std::vector<ResultColumn>& columns, const std::vector<std::string>& joined);

/// How the rows of a query are arranged.
struct Arrangement {
  std::vector<size_t> keys;                   // columns that divide the rows into files
  std::vector<std::pair<size_t, bool>> sort;  // columns, and whether downwards
  int64_t skip = 0;                           // rows to leave out at the beginning
};

/// With the columns' casts, in order, and the partition columns as text behind all others.
std::string with_casts(const Connection& connection, const std::string& query, const std::vector<Column>& columns,
                       const Arrangement& arrangement);

/// The planner's estimates for a query.
struct Estimate {
  double rows = 0;
  bool is_parallel = false;  // several processes of the server would run it
};
Result<Estimate> estimate(Connection& connection, const std::string& query);

/// `table` as the user wrote it, quoted when it is the plain name of a table that is there.
Result<std::string> table_reference(Connection& connection, const std::string& table);

}  // namespace strom::pg2arrow
