// Differences between PostgreSQL versions in wait events. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// The event of a session that waits for another program's lock on a file: versions before 17 have one event for all
/// extensions.
inline uint32 file_lock_wait_event() {
#if PG_VERSION_NUM >= 170000
  static uint32 event = 0;
  if (event == 0) event = WaitEventExtensionNew("StromArrowFileLock");
  return event;
#else
  return PG_WAIT_EXTENSION;
#endif
}

}  // namespace strom::pg::compat
