// Locks that many sessions share all the time, so that there is hardly a moment in which nobody has them. PostgreSQL's
// LWLocks let those who share pass whoever waits for the lock alone. So he asks for a turn when he has waited for some
// time, and they wait for him then.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Takes kGate or kVersionLock, shared. Sessions that hold one of a table take it only of tables with larger OIDs.
void share_lock(const Table* table, int which);

constexpr int kAnyTries = 0;

/// Takes kGate or kVersionLock alone. The caller holds no lock that those who share it may wait for. A commit holds the
/// gate while it waits for something else, such as a standby. So after half a second those who wait go on for a second,
/// before the next try; interrupts are served then. False: not in so many tries.
bool take_lock_alone(const Table* table, int which, int tries = kAnyTries);

}  // namespace strom::pg::store
