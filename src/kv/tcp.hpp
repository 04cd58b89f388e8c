// Connections by TCP to the server of messages, for clients on other machines. Part of libstromkv.
#pragma once

#include <string>

namespace strom::kv {

/// Addresses begin with it: tcp:HOST:PORT, tcp:[ADDRESS]:PORT.
inline constexpr const char* kTcpPrefix = "tcp:";

/// A connection to the first address of the host that answers within ten seconds; -1, and `what` says why there is
/// none.
int connect_by_tcp(const char* address, std::string* what);

}  // namespace strom::kv
