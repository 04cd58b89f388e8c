// See connect.hpp.
#include "postgres/connect.hpp"

#include <optional>
#include <vector>

#include "cli/password.hpp"

namespace strom::tool {

namespace {

ServerConnection connect_once(const ServerSettings& settings, const char* program,
                              const std::optional<std::string>& password) {
  std::vector<const char*> names, values;
  const auto add = [&](const char* name, const char* value) {
    names.push_back(name);
    values.push_back(value);
  };
  // Later ones win, so that a connection string can override what is only a default here.
  add("fallback_application_name", program);
  add("keepalives_idle", "30");
  add("keepalives_interval", "10");
  add("keepalives_count", "6");
  if (!settings.database.empty()) add("dbname", settings.database.c_str());
  if (!settings.host.empty()) add("host", settings.host.c_str());
  if (!settings.port.empty()) add("port", settings.port.c_str());
  if (!settings.user.empty()) add("user", settings.user.c_str());
  if (password) add("password", password->c_str());
  add("client_encoding", "UTF8");
  names.push_back(nullptr);
  values.push_back(nullptr);
  return ServerConnection(PQconnectdbParams(names.data(), values.data(), 1));
}

}  // namespace

void add_server_options(OptionTable& table, ServerSettings* settings) {
  table.group("Connection");
  table.text('d', "dbname", "DBNAME", &settings->database,
             "database, or a connection string or URI (default: PGDATABASE)");
  table.text('h', "host", "HOST", &settings->host, "server's host or socket folder (default: PGHOST)");
  table.text('p', "port", "PORT", &settings->port, "server's port (default: PGPORT)");
  table.text('u', "user", "USER", &settings->user, "role to connect as (default: PGUSER)").also("username").also('U');
  table.flag('w', "no-password", &settings->never_ask, "never ask for a password");
  table.flag('W', "password", &settings->always_ask,
             "ask for a password at once; PGPASSWORD, .pgpass and services need no option");
}

Result<ServerConnection> connect(const ServerSettings& settings, const char* program) {
  static std::optional<std::string> password;
  if (settings.always_ask && !password) password = ask_password(settings.user);
  ServerConnection connection = connect_once(settings, program, password);
  if (connection != nullptr && PQstatus(connection.get()) == CONNECTION_BAD &&
      PQconnectionNeedsPassword(connection.get()) != 0 && !password && !settings.never_ask) {
    password = ask_password(PQuser(connection.get()));
    if (password) connection = connect_once(settings, program, password);
  }
  if (connection == nullptr) return Status(ErrorCode::kOutOfMemory, "out of memory while connecting");
  if (PQstatus(connection.get()) != CONNECTION_OK)
    return Status(ErrorCode::kIoError, "could not connect: " + one_line(PQerrorMessage(connection.get())));
  return connection;
}

std::string one_line(const char* text) {
  std::string line = text == nullptr ? "" : text;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line;
}

}  // namespace strom::tool
