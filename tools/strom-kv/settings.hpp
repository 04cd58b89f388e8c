// What strom-kv was told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace strom::kv_tool {

struct Settings {
  std::string command, table;
  std::vector<std::string> arguments;  // keys, or a row
  std::string database, host, port, user;
  std::string socket, token;  // of kv_attach(), by somebody else
  bool never_ask = false, always_ask = false;
  int64_t threads = 1, seconds = 5, batch = 1;
};

}  // namespace strom::kv_tool
