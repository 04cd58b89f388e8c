// Conditions on the primary key of a store table: `key = value`, `key = ANY (values)`. May ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::fdw_gstore {

/// The value or values that a clause compares the key with.
struct KeyClause {
  Expr* value;    // refers to no column of the table
  Oid type;       // of one value
  bool is_array;  // `value` is an array of values
};

/// False: the clause does not select rows by the key of table `rti`.
bool match_key_clause(PlannerInfo* root, const store::Table* table, Index rti, Expr* clause, KeyClause* match);

/// Converts a value of `type` to the type of a key with this pg_type.typlen. False: no key can be equal to the value.
bool to_key_type(int16_t length, Oid type, Datum* value);

/// Sets the cell to the key's bytes for a value of `type`, in `space`. False: no key can be equal to the value.
bool key_cell(const store::StoreColumn& column, Oid type, Datum value, store::CellSpace* space,
              store::rows::Cell* cell);

}  // namespace strom::pg::fdw_gstore
