#include "strom-kv/session.hpp"

#include <array>
#include <optional>

#include "common/password.hpp"

namespace strom::kv_tool {

namespace {

std::string one_line(const char* text) {
  std::string line = text == nullptr ? "" : text;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  for (char& c : line)
    if (c == '\n') c = ' ';
  return line;
}

PGconn* connect(const Settings& settings, const std::optional<std::string>& password) {
  std::vector<const char*> names, values;
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    names.push_back(name);
    values.push_back(value.c_str());
  };
  const std::string program = "strom-kv", encoding = "UTF8", secret = password.value_or("");
  add("fallback_application_name", program);
  add("dbname", settings.database);
  add("host", settings.host);
  add("port", settings.port);
  add("user", settings.user);
  add("password", secret);
  add("client_encoding", encoding);
  names.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectdbParams(names.data(), values.data(), 1);
}

}  // namespace

Result<Session> Session::open(const Settings& settings) {
  std::optional<std::string> password;
  if (settings.always_ask) password = tool::ask_password(settings.user);
  Session session(connect(settings, password));
  PGconn* connection = session.connection_.get();
  if (PQstatus(connection) == CONNECTION_BAD && PQconnectionNeedsPassword(connection) != 0 && !password &&
      !settings.never_ask) {
    password = tool::ask_password(PQuser(connection));
    session.connection_.reset(connect(settings, password));
    connection = session.connection_.get();
  }
  if (PQstatus(connection) != CONNECTION_OK)
    return Status(ErrorCode::kIoError, "could not connect: " + one_line(PQerrorMessage(connection)));
  return session;
}

Result<std::vector<std::string>> Session::first_row(const std::string& sql, const std::vector<std::string>& parameters,
                                                    int64_t* changed) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr,
                   nullptr, 0),
      PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    const char* message = PQresultErrorField(result.get(), PG_DIAG_MESSAGE_PRIMARY);
    const char* hint = PQresultErrorField(result.get(), PG_DIAG_MESSAGE_HINT);
    return Status(ErrorCode::kIoError, message != nullptr ? message : one_line(PQerrorMessage(connection_.get())))
        .with_hint(hint != nullptr ? hint : "");
  }
  if (changed != nullptr) *changed = strtoll(PQcmdTuples(result.get()), nullptr, 10);
  std::vector<std::string> row;
  if (PQntuples(result.get()) != 0)
    for (int i = 0; i < PQnfields(result.get()); ++i) row.emplace_back(PQgetvalue(result.get(), 0, i));
  return row;
}

std::string Session::quoted_name(const std::string& name) const {
  const std::unique_ptr<char, decltype(&PQfreemem)> quoted(
      PQescapeIdentifier(connection_.get(), name.data(), name.size()), PQfreemem);
  return quoted == nullptr ? std::string() : std::string(quoted.get());
}

Status failed(stromkv_status status, const std::string& detail) {
  const ErrorCode code = status == STROMKV_CORRUPT ? ErrorCode::kCorruptFile : ErrorCode::kIoError;
  return {code, detail.empty() ? stromkv_status_text(status) : detail};
}

Result<Table> attach(const Settings& settings) {
  std::string socket = settings.socket, token = settings.token;
  if (token.empty()) {
    STROM_ASSIGN(Session session, Session::open(settings));
    STROM_ASSIGN(const auto row,
                 session.first_row("SELECT socket, token FROM pgstrom.kv_attach($1::regclass)", {settings.table}));
    if (row.size() != 2) return Status(ErrorCode::kIoError, "the server gave no token");
    socket = row[0];
    token = row[1];
  }
  std::array<char, 1024> error{};
  stromkv* table = nullptr;
  const stromkv_status status = stromkv_attach(socket.c_str(), token.c_str(), &table, error.data(), error.size());
  if (status != STROMKV_OK) return failed(status, error.data());
  return Table(table);
}

Result<Reader> open_reader(const Table& table) {
  stromkv_reader* reader = nullptr;
  const stromkv_status status = stromkv_reader_open(table.get(), &reader);
  if (status != STROMKV_OK) return failed(status);
  return Reader(reader);
}

}  // namespace strom::kv_tool
