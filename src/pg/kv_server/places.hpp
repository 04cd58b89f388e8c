// Where the processes are that answer messages about store tables: one for each database, started by the first session
// that asks for it. Their places are in the server's shared memory. All of it may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/store/control.hpp"

namespace strom::pg::kv_server {

/// Where this database's server is, which is started if there is none. `socket` has room for MessageServer::socket;
/// `port` is 0 where it does not listen by TCP. Errors: 55000, when it does not come.
void ensure_message_server(char* socket, int* port);

/// For that server: its place, whose number is returned. -1: another process has it, or there are too many.
int take_place();
/// Sessions are told of it from now on.
void announce(int place, const char* socket, int port);
/// Sessions are not told of it any more. False: one has been told within the last seconds, so it goes on.
bool hide_unless_wanted(int place);
void leave_place(int place);

}  // namespace strom::pg::kv_server
