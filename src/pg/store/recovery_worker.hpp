// Opens store tables after the server has started whose files name transactions: those of a server that has crashed.
// Recovery asks the server about these transactions, so it must not wait until the server has forgotten them. The
// store's worker is connected to no database, so it has a process look at each database, one after the other.
#pragma once

namespace strom::pg::store {

/// Called by the store's worker once a second, until everything has been looked at. Waits for nothing. May throw.
void serve_recovery();

}  // namespace strom::pg::store
