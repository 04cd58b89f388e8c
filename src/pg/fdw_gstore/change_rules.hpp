// Rules for changes of rows that UPDATE and DELETE share, whether ModifyTable or the scan itself makes the changes.
// May ereport.
#pragma once

#include "pg/store/change.hpp"

namespace strom::pg::fdw_gstore {

/// Called when another transaction has changed or deleted the row. Errors: 40001, if this transaction keeps one
/// snapshot.
void check_updated();
void check_deleted();

/// Called for a row that this transaction has ended already. Errors: 27000, unless command `own` itself has ended it.
void check_own(const store::EndOutcome& outcome, CommandId own, const char* what);

}  // namespace strom::pg::fdw_gstore
