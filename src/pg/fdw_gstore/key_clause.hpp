// Conditions that name the primary key of a store table: `key = value`, `key = ANY (values)`. May ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::fdw_gstore {

/// What a clause compares the key with.
struct KeyClause {
  Expr* value;    // without columns of the table
  Oid type;       // of one value
  bool is_array;  // `value` is an array of them
};

/// False: the clause does not choose rows by the key of table `rti`.
bool match_key_clause(PlannerInfo* root, const store::Table* table, Index rti, Expr* clause, KeyClause* match);

/// The key's bytes for a value of `type`, in `space`. False: no key is equal to it.
bool key_cell(const store::StoreColumn& column, Oid type, Datum value, store::CellSpace* space,
              store::rows::Cell* cell);

}  // namespace strom::pg::fdw_gstore
