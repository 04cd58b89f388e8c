// The ordering that a sort operator belongs to. PostgreSQL 18 changed the function for this. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// False if `op` is not an operator of an ordering. Else its operator family, and whether it sorts in descending order.
inline bool ordering_of(Oid op, Oid* family, bool* descending) {
  Oid type;
#if PG_VERSION_NUM >= 180000
  CompareType order;
  if (!get_ordering_op_properties(op, family, &type, &order)) return false;
  *descending = order == COMPARE_GT;
#else
  int16 strategy;
  if (!get_ordering_op_properties(op, family, &type, &strategy)) return false;
  *descending = strategy == BTGreaterStrategyNumber;
#endif
  return true;
}

}  // namespace strom::pg::compat
