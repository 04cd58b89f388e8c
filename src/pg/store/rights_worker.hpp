// Takes published regions from roles that have lost the right to read because roles have changed: one has left another,
// or is no superuser any more. No event trigger reports this. The store's worker notices it, but is connected to no
// database. So it starts a process in each database that has readers, which looks at their rights and ends. The process
// also makes regions that were lost because no memory was left.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::store {

/// Called once by the store's worker. May ereport.
void watch_roles();

/// True if roles may have changed since the last call.
bool have_roles_changed();

/// If the server has no room for the process now, have_roles_changed() will be true again. May ereport.
void start_rights_worker(Oid database);

}  // namespace strom::pg::store
