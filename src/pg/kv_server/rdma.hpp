// Loads the module of the RDMA server if the setting pg_strom.kv_rdma asks for it.
#pragma once

#include <string>
#include <vector>

#include "rdma/server.hpp"

namespace strom::pg::kv_server {

/// Listens on the addresses, at the port for messages. nullptr: it failed, and the server's log says why. May throw.
rdma::Server* open_rdma_server(const std::vector<std::string>& addresses, int port);

}  // namespace strom::pg::kv_server
