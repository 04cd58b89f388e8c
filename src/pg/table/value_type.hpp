// Maps SQL types to the engine's types, for columns and expressions. Used by the kinds of table and by the planner.
#pragma once

#include "base/status.hpp"
#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/table/planned_table.hpp"

namespace strom::pg::table {

/// The engine's type for a SQL type and modifier; kDecimal for a numeric without modifier. Text needs a UTF-8 or
/// single-byte database. Errors: kUnsupported. May throw.
Result<engine::plan::ValueType> value_type_of(Oid type, int32_t typmod);

/// Sets the engine's type of a column, or the reason why the column is not readable. May throw.
void set_type(ColumnFacts* facts, Oid type, int32_t typmod);

/// True for numeric, or a domain over it. May ereport.
bool is_numeric(Oid type);

}  // namespace strom::pg::table
