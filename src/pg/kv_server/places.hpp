// Finds the processes that answer messages about store tables. There is one for each database, and the first session
// that needs it starts it. The server's shared memory records where they listen. All of it may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/store/control.hpp"

namespace strom::pg::kv_server {

/// Tells where this database's process listens; starts it if necessary. `socket` has room for MessageServer::socket.
/// `port` is 0 if it does not listen by TCP. Errors: 55000 when the process does not start.
void ensure_message_server(char* socket, int* port);

/// For the process: takes a place and returns its number. -1: another process serves the database, or there are too
/// many.
int take_place();
/// For the process: lets sessions find it.
void announce(int place, const char* socket, int port);
/// For the process: hides it from sessions. False: a session has found it within the last seconds, so it has to go on.
bool hide_unless_wanted(int place);
void leave_place(int place);

}  // namespace strom::pg::kv_server
