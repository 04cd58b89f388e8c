// What processes of the memory store do with an error of one table, to go on with the next one. Used by worker.cpp and
// rights_worker.cpp.
#pragma once

#include <string>

namespace strom::pg::store {

/// Writes the exception that is being handled to the server's log, behind `what` and a colon.
void log_failure(const std::string& what);

/// Ends the transaction in which an error was raised, if there is one, and releases what it held.
void abandon_transaction();

}  // namespace strom::pg::store
