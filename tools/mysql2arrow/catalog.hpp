// From MySQL's types to Arrow's: what the columns of a query become, and how their values are read.
#pragma once

#include <string>
#include <vector>

#include "dump/append.hpp"
#include "format/mysqlwire/row_decoder.hpp"
#include "mysql2arrow/connection.hpp"

namespace strom::mysql2arrow {

struct Columns {
  tool::Contents contents;
  std::vector<format::mysqlwire::WireColumn> wires;
};

/// `query` is asked for the SRID of geometries.
Result<Columns> make_columns(Connection& connection, const Settings& settings,
                             const std::vector<ResultColumn>& described, const std::string& query);

/// The labels in `enum('a','b')`.
std::vector<std::string> enum_labels(const std::string& type);

}  // namespace strom::mysql2arrow
