// Rules for changes of rows that UPDATE and DELETE share, however they come: by ModifyTable, or by the scan itself. May
// ereport.
#pragma once

#include "pg/store/change.hpp"

namespace strom::pg::fdw_gstore {

/// What the executor leaves to foreign servers: this one has nobody else to leave it to. `moves`: the row may belong to
/// another partition than it did before.
void check_constraints(EState* estate, ResultRelInfo* target, TupleTableSlot* slot, bool moves);

/// Another transaction has made a newer version, or taken the row away. Errors: 40001, where the transaction has one
/// snapshot.
void check_updated();
void check_deleted();

/// A row that this transaction has ended already. Errors: 27000, if command `own` has not done so itself.
void check_own(const store::EndOutcome& outcome, CommandId own, const char* what);

}  // namespace strom::pg::fdw_gstore
