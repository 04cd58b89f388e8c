// What processes of the memory store do with an error of one table, to go on with the next one. Used by worker.cpp,
// rights_worker.cpp and recovery_worker.cpp.
#pragma once

#include <string>
#include <vector>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::store {

/// Writes the exception that is being handled to the server's log, behind `what` and a colon.
void log_failure(const std::string& what);

/// Calls `call`, which may ereport, for each of these tables, in a transaction of its own, so that none waits for
/// another. An error is written to the server's log, as "could not `what` the store table with OID n`when`". False:
/// there was one, since somebody keeps a table locked, for example. May throw.
bool run_for_each(const std::vector<Oid>& tables, void (*call)(Oid), const char* what, const char* when = "");

/// Ends the transaction in which an error was raised, if there is one, and releases what it held.
void abandon_transaction();

}  // namespace strom::pg::store
