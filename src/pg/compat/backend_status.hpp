// PostgreSQL's table of backends, of which each session reads a copy. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {
#include "utils/backend_progress.h"
#include "utils/backend_status.h"
}

namespace strom::pg::compat {

/// Entry `index`, from 0, below pgstat_fetch_stat_numbackends(); nullptr when it is gone.
inline const PgBackendStatus* backend_status(int index) {
#if PG_VERSION_NUM >= 160000
  LocalPgBackendStatus* entry = pgstat_get_local_beentry_by_index(index + 1);
#else
  LocalPgBackendStatus* entry = pgstat_fetch_stat_local_beentry(index + 1);
#endif
  return entry == nullptr || entry->backendStatus.st_procpid == 0 ? nullptr : &entry->backendStatus;
}

}  // namespace strom::pg::compat
