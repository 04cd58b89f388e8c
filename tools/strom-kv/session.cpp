#include "strom-kv/session.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/nearest_name.hpp"

namespace strom::kv_tool {

Result<Session> Session::open(const Settings& settings) {
  STROM_ASSIGN(tool::ServerConnection connection, tool::connect(settings, "strom-kv"));
  return Session(std::move(connection));
}

Result<std::vector<std::string>> Session::first_row(const std::string& sql, const std::vector<std::string>& parameters,
                                                    int64_t* changed) {
  STROM_ASSIGN(auto rows, all_rows(sql, parameters, changed));
  return rows.empty() ? std::vector<std::string>() : rows[0];
}

Result<std::vector<std::vector<std::string>>> Session::all_rows(const std::string& sql,
                                                                const std::vector<std::string>& parameters,
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
    return Status(ErrorCode::kIoError, message != nullptr ? message : tool::one_line(PQerrorMessage(connection_.get())))
        .with_hint(hint != nullptr ? hint : "");
  }
  if (changed != nullptr) *changed = strtoll(PQcmdTuples(result.get()), nullptr, 10);
  std::vector<std::vector<std::string>> rows(static_cast<size_t>(PQntuples(result.get())));
  for (size_t row = 0; row < rows.size(); ++row)
    for (int i = 0; i < PQnfields(result.get()); ++i)
      rows[row].emplace_back(PQgetvalue(result.get(), static_cast<int>(row), i));
  return rows;
}

std::string Session::host() const {
  for (const char* name : {PQhostaddr(connection_.get()), PQhost(connection_.get())}) {
    const std::string host = name == nullptr ? "" : name;
    if (host.empty() || host[0] == '/' || host[0] == '@') continue;
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
  }
  return "localhost";
}

Result<TextCodec> Session::codec() const {
  const char* encoding = PQparameterStatus(connection_.get(), "server_encoding");
  return TextCodec::of(encoding == nullptr ? "UTF8" : encoding);
}

std::string Session::quoted_name(const std::string& name) const {
  const std::unique_ptr<char, decltype(&PQfreemem)> quoted(
      PQescapeIdentifier(connection_.get(), name.data(), name.size()), PQfreemem);
  return quoted == nullptr ? std::string() : std::string(quoted.get());
}

Status check_columns(Session& session, const Settings& settings) {
  STROM_ASSIGN(const auto wanted,
               session.all_rows("SELECT name FROM json_object_keys($1::json) name", {settings.arguments.at(0)}));
  STROM_ASSIGN(const auto columns,
               session.all_rows("SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT "
                                "attisdropped ORDER BY attnum",
                                {settings.table}));
  std::vector<std::string_view> known;
  std::string all;
  for (const std::vector<std::string>& column : columns) {
    known.emplace_back(column.at(0));
    all += (all.empty() ? "" : ", ") + column.at(0);
  }
  for (const std::vector<std::string>& row : wanted) {
    const std::string& name = row.at(0);
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest(base::nearest_name(name, known));
    return Status(ErrorCode::kInvalidParameter, "table \"" + settings.table + "\" has no column \"" + name + "\"")
        .with_hint((nearest.empty() ? "" : "did you mean \"" + nearest + "\"? ") + "the columns are " + all);
  }
  return Status::ok();
}

Status failed(stromkv_status status, const std::string& detail) {
  const ErrorCode code = status == STROMKV_CORRUPT ? ErrorCode::kCorruptFile : ErrorCode::kIoError;
  return {code, detail.empty() ? stromkv_status_text(status) : detail};
}

Result<Grant> ask_for_token(const Settings& settings, const std::string& function) {
  if (!settings.token.empty()) return Grant{settings.socket, settings.token};
  STROM_ASSIGN(Session session, Session::open(settings));
  STROM_ASSIGN(TextCodec codec, session.codec());
  if (settings.uses_tcp || settings.uses_rdma) {
    STROM_ASSIGN(const auto place,
                 session.first_row("SELECT port, token FROM pgstrom.kv_session_tcp($1::regclass)", {settings.table}));
    if (place.size() != 2) return Status(ErrorCode::kIoError, "the server gave no token");
    return Grant{(settings.uses_rdma ? "rdma:" : "tcp:") + session.host() + ":" + place[0], place[1], std::move(codec)};
  }
  STROM_ASSIGN(const auto row,
               session.first_row("SELECT socket, token FROM pgstrom." + function + "($1::regclass)", {settings.table}));
  if (row.size() != 2) return Status(ErrorCode::kIoError, "the server gave no token");
  return Grant{row[0], row[1], std::move(codec)};
}

Result<Table> attach(const Settings& settings) {
  STROM_ASSIGN(Grant grant, ask_for_token(settings, "kv_attach"));
  std::array<char, 1024> error{};
  stromkv* table = nullptr;
  const stromkv_status status =
      stromkv_attach(grant.socket.c_str(), grant.token.c_str(), &table, error.data(), error.size());
  if (status != STROMKV_OK) return failed(status, error.data());
  return Table{std::unique_ptr<stromkv, Detach>(table), std::move(grant.text)};
}

Result<Reader> open_reader(const Table& table) {
  stromkv_reader* reader = nullptr;
  const stromkv_status status = stromkv_reader_open(table.get(), &reader);
  if (status != STROMKV_OK) return failed(status);
  return Reader(reader);
}

}  // namespace strom::kv_tool
