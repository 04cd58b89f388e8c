// Messages over TCP: the listening sockets of the process that answers them. Off unless the setting
// pg_strom.kv_listen_addresses names addresses.
#pragma once

#include <string>
#include <vector>

#include "pg/kv_server/clients.hpp"

namespace strom::pg::kv_server {

/// Splits a comma-separated list of addresses. May throw.
std::vector<std::string> split_addresses(const char* list);

/// Listens on the addresses at `port`; 0: at any free port. Returns the port, or 0 if it listens nowhere. Each failure
/// gets a line in the server's log. May throw.
int listen_by_tcp(Clients* clients, const std::vector<std::string>& addresses, int port);

/// Sets the socket to send answers at once, and to notice when the client's machine is gone.
void prepare_tcp_client(int descriptor);

}  // namespace strom::pg::kv_server
