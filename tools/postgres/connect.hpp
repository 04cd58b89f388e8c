// The beginning of a session on a PostgreSQL server, by libpq: options, password, errors. Used by the tools that open
// sessions.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>

#include "base/status.hpp"
#include "cli/options.hpp"

namespace strom::tool {

/// Where libpq looks where these are empty: the environment, services, and its defaults.
struct ServerSettings {
  std::string database, host, port, user;
  bool never_ask = false, always_ask = false;  // for a password
};

/// The group of options for them.
void add_server_options(OptionTable& table, ServerSettings* settings);

struct EndConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
using ServerConnection = std::unique_ptr<PGconn, EndConnection>;

/// A connection whose texts are UTF-8. Asks for a password on the terminal when one is needed and allowed, once for all
/// connections. `program`: its name for the server's views. Errors: kIoError, kOutOfMemory.
Result<ServerConnection> connect(const ServerSettings& settings, const char* program);

/// libpq's messages end with a newline, and may have several lines.
std::string one_line(const char* text);

}  // namespace strom::tool
