// See connection.hpp.
#include "pg2arrow/connection.hpp"

#include <cstdlib>

#include "pg2arrow/error_place.hpp"

namespace strom::pg2arrow {

using tool::one_line;

namespace {

using ResultOwner = std::unique_ptr<PGresult, decltype(&PQclear)>;

ResultOwner owned(PGresult* result) { return {result, PQclear}; }

void discard_notice(void*, const PGresult*) {}

}  // namespace

Connection::Connection(PGconn* connection) : connection_(connection), cancel_(PQgetCancel(connection)) {
  on_interrupt_ = std::make_unique<tool::OnInterrupt>([this] { cancel(); });
}

Connection::~Connection() {
  on_interrupt_.reset();
  PQfreeCancel(cancel_);
  PQfinish(connection_);
}

Result<std::unique_ptr<Connection>> Connection::open(const Settings& settings) {
  STROM_ASSIGN(tool::ServerConnection connected, tool::connect(settings, "pg2arrow"));
  PGconn* const raw = connected.release();
  auto connection = std::unique_ptr<Connection>(new Connection(raw));
  PQsetNoticeReceiver(raw, discard_notice, nullptr);
  // Texts of values must not depend on the session's settings.
  STROM_TRY(connection->run(
      "SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres'; SET extra_float_digits = 3; "
      "SET bytea_output = 'hex'; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0"));
  // A server that does not know its encoding refuses bytes that are no UTF-8 without telling which row has them.
  if (connection->parameter("server_encoding") == "SQL_ASCII") PQsetClientEncoding(raw, "SQL_ASCII");
  for (const auto& [name, value] : settings.server_settings) {
    STROM_TRY(connection->query("SELECT set_config($1, $2, false)", {name, value}).status());
  }
  STROM_TRY(connection->run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  return connection;
}

Status Connection::failed(const std::string& what, const PGresult* result, const std::string& sql) const {
  const auto field = [&](int code) { return one_line(result == nullptr ? nullptr : PQresultErrorField(result, code)); };
  std::string message = field(PG_DIAG_MESSAGE_PRIMARY);
  if (message.empty()) message = one_line(PQerrorMessage(connection_));
  const std::string state = field(PG_DIAG_SQLSTATE);
  if (!state.empty()) message += " (SQLSTATE " + state + ")";
  std::string detail = field(PG_DIAG_MESSAGE_DETAIL);
  std::string place = error_place(sql, atoll(field(PG_DIAG_STATEMENT_POSITION).c_str()));
  if (const char* inner = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_INTERNAL_QUERY))
    place = error_place(inner, atoll(field(PG_DIAG_INTERNAL_POSITION).c_str()));
  if (!place.empty()) detail += (detail.empty() ? "" : "\n") + place;
  return Status(ErrorCode::kIoError, what + ": " + message).with_detail(detail).with_hint(field(PG_DIAG_MESSAGE_HINT));
}

Status Connection::run(const std::string& sql) {
  const ResultOwner result = owned(PQexec(connection_, sql.c_str()));
  const ExecStatusType status = PQresultStatus(result.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return Status::ok();
  return failed("the server refused \"" + sql + "\"", result.get(), sql);
}

Result<std::vector<Row>> Connection::query(const std::string& sql, const std::vector<std::string>& parameters) {
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  const ResultOwner result = owned(PQexecParams(connection_, sql.c_str(), static_cast<int>(values.size()), nullptr,
                                                values.data(), nullptr, nullptr, 0));
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) return failed("the query failed", result.get(), sql);
  std::vector<Row> rows(static_cast<size_t>(PQntuples(result.get())));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int column = 0; column < PQnfields(result.get()); ++column) {
      auto& value = rows[i].emplace_back();
      const int row = static_cast<int>(i);
      if (!PQgetisnull(result.get(), row, column)) value = PQgetvalue(result.get(), row, column);
    }
  }
  return rows;
}

Result<std::vector<std::string>> Connection::binary_values(const std::string& sql) {
  const ResultOwner result = owned(PQexecParams(connection_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1));
  if (PQresultStatus(result.get()) != PGRES_TUPLES_OK) return failed("the query failed", result.get(), sql);
  std::vector<std::string> values;
  values.reserve(static_cast<size_t>(PQntuples(result.get())));
  for (int row = 0; row < PQntuples(result.get()); ++row) {
    values.emplace_back(PQgetvalue(result.get(), row, 0), static_cast<size_t>(PQgetlength(result.get(), row, 0)));
  }
  return values;
}

Result<std::vector<ResultColumn>> Connection::describe(const std::string& sql) {
  ResultOwner result = owned(PQprepare(connection_, "", sql.c_str(), 0, nullptr));
  if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) return failed("the query failed", result.get(), sql);
  result = owned(PQdescribePrepared(connection_, ""));
  if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) return failed("the query failed", result.get(), sql);
  std::vector<ResultColumn> columns;
  columns.reserve(static_cast<size_t>(PQnfields(result.get())));
  for (int i = 0; i < PQnfields(result.get()); ++i) {
    columns.push_back({PQfname(result.get(), i), PQftype(result.get(), i), PQfmod(result.get(), i),
                       PQftable(result.get(), i), PQftablecol(result.get(), i)});
  }
  return columns;
}

Result<std::string> Connection::export_snapshot() {
  STROM_ASSIGN(const auto rows, query("SELECT pg_export_snapshot()"));
  return rows[0][0].value_or("");
}

Status Connection::use_snapshot(const std::string& name) {
  return run("SET TRANSACTION SNAPSHOT " + quoted_text(name));
}

Status Connection::start_copy(const std::string& sql) {
  // The newline ends a comment in the query's last line.
  const std::string copy = "COPY (" + sql + "\n) TO STDOUT (FORMAT binary)";
  const ResultOwner result = owned(PQexec(connection_, copy.c_str()));
  return PQresultStatus(result.get()) == PGRES_COPY_OUT ? Status::ok() : failed("the query failed", result.get(), copy);
}

Result<Connection::Data> Connection::copy_data() {
  char* bytes = nullptr;
  const int size = PQgetCopyData(connection_, &bytes, 0);
  Data data{std::unique_ptr<char, Free>(bytes), size};
  if (size > 0) return data;
  if (size == -1) {
    const ResultOwner result = owned(PQgetResult(connection_));
    if (PQresultStatus(result.get()) == PGRES_COMMAND_OK) {
      owned(PQgetResult(connection_));  // the end
      return Data{};
    }
    return failed("the query failed", result.get());
  }
  return failed("the connection broke", nullptr);
}

std::string Connection::quoted_name(const std::string& name) const {
  const std::unique_ptr<char, Free> quoted(PQescapeIdentifier(connection_, name.data(), name.size()));
  return quoted == nullptr ? name : quoted.get();
}

std::string Connection::quoted_text(const std::string& text) const {
  const std::unique_ptr<char, Free> quoted(PQescapeLiteral(connection_, text.data(), text.size()));
  return quoted == nullptr ? text : quoted.get();
}

void Connection::cancel() const {
  char message[256];
  if (cancel_ != nullptr) PQcancel(cancel_, message, sizeof(message));
}

std::string Connection::parameter(const char* name) const {
  const char* value = PQparameterStatus(connection_, name);
  return value == nullptr ? "" : value;
}

}  // namespace strom::pg2arrow
