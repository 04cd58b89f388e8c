// The engine's types for columns and expressions of SQL types. Used by the kinds of table and by the planner.
#pragma once

#include "base/status.hpp"
#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/table/planned_table.hpp"

namespace strom::pg::table {

/// The engine's type for a SQL type and modifier; kDecimal for a numeric without one. Text needs a UTF-8 database.
/// Errors: kUnsupported. May throw.
Result<engine::plan::ValueType> value_type_of(Oid type, int32_t typmod);

/// The column holds values of that type, or says why it is not readable. May throw.
void set_type(ColumnFacts* facts, Oid type, int32_t typmod);

/// numeric, or a domain over it. May ereport.
bool is_numeric(Oid type);

}  // namespace strom::pg::table
