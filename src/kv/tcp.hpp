// Connections by TCP to the server of messages, for clients on other machines. Part of libstromkv.
#pragma once

#include <string>

namespace strom::kv {

/// Whether an address is that of another machine: tcp:HOST:PORT, tcp:[ADDRESS]:PORT.
bool is_by_tcp(const char* address);

/// Whether it is rdma:HOST:PORT, and what it is by TCP.
bool is_by_rdma(const char* address);
std::string by_tcp(const char* rdma_address);

/// For an address that is_by_tcp(): a connection to the first address of the host that answers within ten seconds; -1,
/// and `what` says why there is none.
int connect_by_tcp(const char* address, std::string* what);

}  // namespace strom::kv
