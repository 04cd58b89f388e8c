// The memory store's background worker: one for the server, started by the first session that uses a store table, or
// with the server where the library is preloaded. It writes redo that nobody waits for, and makes checkpoints.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::store {

/// Starts the worker if there is none. False: there is none, since the server has no room for one. May ereport.
bool ensure_worker();

/// For _PG_init.
void register_worker();

}  // namespace strom::pg::store
