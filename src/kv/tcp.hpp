// TCP connections to the server of messages, for clients on other machines. Part of libstromkv.
#pragma once

#include <string>

namespace strom::kv {

/// True for an address of another machine: tcp:HOST:PORT, tcp:[ADDRESS]:PORT.
bool is_by_tcp(const char* address);

/// True for rdma:HOST:PORT, and the same address for TCP.
bool is_by_rdma(const char* address);
std::string by_tcp(const char* rdma_address);

/// Connects to an address for which is_by_tcp() is true: to the first address of the host that answers within ten
/// seconds. -1 on failure; `what` gets the reason.
int connect_by_tcp(const char* address, std::string* what);

}  // namespace strom::kv
