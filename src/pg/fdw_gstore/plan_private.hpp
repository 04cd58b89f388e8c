// The form of ForeignScan::fdw_private in scans of store tables. For a scan by key it is the type of the values and
// whether they are an array; fdw_exprs has the value and fdw_recheck_quals the clause. For a scan of all rows it is
// NIL. If the scan changes its rows itself, these two numbers (0, 0 for all rows) are followed by whether it counts the
// statement's rows, and by the numbers of the columns that it sets.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::fdw_gstore {

inline bool is_by_key(const ForeignScan* plan) { return plan->fdw_exprs != NIL; }
inline Oid key_type(const ForeignScan* plan) { return static_cast<Oid>(intVal(linitial(plan->fdw_private))); }
inline bool is_key_array(const ForeignScan* plan) { return intVal(lsecond(plan->fdw_private)) != 0; }

inline bool counts_rows(const ForeignScan* plan) { return intVal(lthird(plan->fdw_private)) != 0; }
inline const List* set_columns(const ForeignScan* plan) { return static_cast<List*>(lfourth(plan->fdw_private)); }

}  // namespace strom::pg::fdw_gstore
