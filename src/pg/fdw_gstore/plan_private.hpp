// ForeignScan::fdw_private of a scan by key: type of the values, whether they are an array. fdw_exprs has the value,
// fdw_recheck_quals the clause. NIL: a scan of all rows.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::fdw_gstore {

inline bool is_by_key(const ForeignScan* plan) { return plan->fdw_exprs != NIL; }
inline Oid key_type(const ForeignScan* plan) { return static_cast<Oid>(intVal(linitial(plan->fdw_private))); }
inline bool is_key_array(const ForeignScan* plan) { return intVal(lsecond(plan->fdw_private)) != 0; }

}  // namespace strom::pg::fdw_gstore
