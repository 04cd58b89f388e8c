// Takes published regions from roles that have lost the right to read because roles have changed: one has left another,
// or is no superuser any more; or because a table or database has another owner. No event trigger reports this. The
// store's worker notices changes of roles, but is connected to no database. So it starts a process in each database
// that has readers, which looks at their rights and ends. Nobody is told of REASSIGN OWNED, so such a process also
// comes from time to time. The process also makes regions that were lost because no memory was left.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::store {

enum class RightsLook : uint8_t {
  kChanged,  // roles have changed: waits for those who attach clients, and is done again after an error
  kRoutine,  // comes from time to time: waits for nobody, unless somebody has lost a right
};

/// Called once by the store's worker. May ereport.
void watch_roles();

/// True if roles may have changed since the last call, or if it is time to look again after an error. May
/// throw.
bool have_roles_changed();

/// True if it is time for RightsLook::kRoutine; from then on it is not for some time.
bool is_time_for_routine();

/// If the server has no room for the process now, have_roles_changed() will be true again. May ereport.
void start_rights_worker(Oid database, RightsLook look);

}  // namespace strom::pg::store
