// Messages over TCP: the sockets on which the process that answers them listens, off unless the setting
// pg_strom.kv_listen_addresses names addresses.
#pragma once

#include <string>
#include <vector>

#include "pg/kv_server/clients.hpp"

namespace strom::pg::kv_server {

/// The addresses of a list with commas. May throw.
std::vector<std::string> split_addresses(const char* list);

/// Listens on the addresses at a port; 0: at one that is free. Returns the port, or 0 where it listens nowhere. What
/// cannot be listened on gets a line in the server's log. May throw.
int listen_by_tcp(Clients* clients, const std::vector<std::string>& addresses, int port);

/// Answers go at once, and a client whose machine is gone is noticed.
void prepare_tcp_client(int descriptor);

}  // namespace strom::pg::kv_server
