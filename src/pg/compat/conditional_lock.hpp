// Locks that are not waited for. PostgreSQL 18 can log failures to get one; this extension does not ask for that.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

inline bool try_lock_tuple(Relation relation, ItemPointer tid, LOCKMODE mode) {
#if PG_VERSION_NUM >= 180000
  return ConditionalLockTuple(relation, tid, mode, false);
#else
  return ConditionalLockTuple(relation, tid, mode);
#endif
}

inline bool has_transaction_ended(TransactionId xid) {
#if PG_VERSION_NUM >= 180000
  return ConditionalXactLockTableWait(xid, false);
#else
  return ConditionalXactLockTableWait(xid);
#endif
}

}  // namespace strom::pg::compat
