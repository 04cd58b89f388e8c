// The memory store's background worker, one for the server. The first session that uses a store table starts it; if the
// library is preloaded, the server does. It writes redo for which no session waits, and makes checkpoints.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::store {

/// Starts the worker if it is not running. False: the server has no room for it. May ereport.
bool ensure_worker();

/// Called by _PG_init.
void register_worker();

}  // namespace strom::pg::store
