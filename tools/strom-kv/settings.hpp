// What strom-kv was told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "postgres/connect.hpp"

namespace strom::kv_tool {

struct Settings : tool::ServerSettings {
  std::string command, table;
  std::vector<std::string> arguments;  // keys, or a row
  std::string socket, token;           // of kv_attach(), by somebody else
  bool asks = false;                   // the server, by messages
  bool uses_tcp = false;               // for these, and not a UNIX socket
  bool uses_rdma = false;              // for reads of the region
  int64_t threads = 1, seconds = 5, batch = 1;
};

}  // namespace strom::kv_tool
