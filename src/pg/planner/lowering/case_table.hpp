// Which character becomes which by upper() and lower() of a collation, as engine/expr/case_map.hpp reads it. Used by
// lower_calls.cpp.
#pragma once

#include <string>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// The table of a collation in a database of encoding UTF-8; nullptr when the collation does not map each character by
/// itself. Throws PostgresError.
const std::string* case_table(bool upper, Oid collation);

}  // namespace strom::pg::planner
