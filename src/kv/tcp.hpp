// Connections by TCP to the server of messages, for clients on other machines. Part of libstromkv.
#pragma once

#include <string>

namespace strom::kv {

/// Whether an address is that of another machine: tcp:HOST:PORT, tcp:[ADDRESS]:PORT.
bool is_by_tcp(const char* address);

/// For an address that is_by_tcp(): a connection to the first address of the host that answers within ten seconds; -1,
/// and `what` says why there is none.
int connect_by_tcp(const char* address, std::string* what);

}  // namespace strom::kv
