// How upper() and lower() of a collation map characters, in the form that engine/expr/case_map.hpp reads. Used by
// lower_calls.cpp.
#pragma once

#include <string>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// The table of a collation in a UTF-8 database. nullptr when the collation does not map each character by itself.
/// Throws PostgresError.
const std::string* case_table(bool upper, Oid collation);

}  // namespace strom::pg::planner
