// See connection.hpp.
#include "mysql2arrow/connection.hpp"

#include <errmsg.h>
#include <fmt/format.h>
#include <mysqld_error.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "cli/password.hpp"

namespace strom::mysql2arrow {

namespace {

constexpr unsigned kBinaryCharset = 63;

using Owned = std::unique_ptr<MYSQL, decltype(&mysql_close)>;

void set_text(MYSQL* connection, mysql_option option, const std::string& value) {
  if (!value.empty()) mysql_options(connection, option, value.c_str());
}

/// `tls`: whether the connection is to be encrypted.
Owned connect(const Settings& settings, const std::optional<std::string>& password, bool tls, unsigned timeout) {
  Owned connection(mysql_init(nullptr), mysql_close);
  MYSQL* raw = connection.get();
  if (raw == nullptr) return connection;
  if (!settings.defaults_file.empty()) mysql_options(raw, MYSQL_READ_DEFAULT_FILE, settings.defaults_file.c_str());
  mysql_options(raw, MYSQL_READ_DEFAULT_GROUP, "mysql2arrow");
  mysql_options(raw, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  mysql_options(raw, MYSQL_OPT_CONNECT_TIMEOUT, &timeout);
  const unsigned long largest_packet = 1ul << 30;
  mysql_options(raw, MYSQL_OPT_MAX_ALLOWED_PACKET, &largest_packet);
  // A server that asks for a file of the client's would get it.
  const unsigned no = 0;
  mysql_options(raw, MYSQL_OPT_LOCAL_INFILE, &no);
  mysql_options4(raw, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "mysql2arrow");
  my_bool enforce = tls, verify = settings.tls >= TlsMode::kVerifyCa;
  mysql_options(raw, MYSQL_OPT_SSL_ENFORCE, &enforce);
  mysql_options(raw, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verify);
  if (tls) {
    set_text(raw, MYSQL_OPT_SSL_CA, settings.tls_ca);
    set_text(raw, MYSQL_OPT_SSL_CERT, settings.tls_certificate);
    set_text(raw, MYSQL_OPT_SSL_KEY, settings.tls_key);
  }
  const auto or_null = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  mysql_real_connect(raw, or_null(settings.host), or_null(settings.user), password ? password->c_str() : nullptr,
                     or_null(settings.database), static_cast<unsigned>(settings.port), or_null(settings.socket),
                     CLIENT_REMEMBER_OPTIONS);
  return connection;
}

/// Encrypted where the server can be: a server that cannot is another matter only when encryption was asked for.
Owned connect_as_told(const Settings& settings, const std::optional<std::string>& password, unsigned timeout) {
  const bool is_local = !settings.socket.empty() || settings.host.empty() || settings.host == "localhost";
  const bool tries = settings.tls == TlsMode::kPreferred && !is_local;
  Owned connection = connect(settings, password, settings.tls >= TlsMode::kRequired || tries, timeout);
  if (tries && connection != nullptr && mysql_errno(connection.get()) == CR_SSL_CONNECTION_ERROR)
    return connect(settings, password, false, timeout);
  return connection;
}

/// A server that is gone without a word is noticed.
void keep_alive(MYSQL* connection) {
  const int socket = static_cast<int>(mysql_get_socket(connection));
  const int on = 1, idle = 30, interval = 10, count = 6;
  if (setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)) != 0) return;
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

Status failed(const std::string& what, unsigned number, const char* message) {
  return Status(ErrorCode::kIoError, fmt::format("{}: {} (error {})", what, message, number));
}

bool is_broken(unsigned number) {
  return number == CR_SERVER_LOST || number == CR_SERVER_GONE_ERROR || number == CR_MALFORMED_PACKET;
}

/// A number or a word stands for itself, everything else is quoted.
std::string setting_value(const Connection& connection, const std::string& value) {
  const bool plain = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_';
  });
  return plain ? value : connection.quoted_text(value);
}

}  // namespace

std::string quoted_name(const std::string& name) {
  std::string out = "`";
  for (const char c : name) out += c == '`' ? "``" : std::string(1, c);
  return out + "`";
}

bool ResultColumn::is_like(const ResultColumn& other) const {
  return name == other.name && type == other.type && is_unsigned() == other.is_unsigned() &&
         decimals == other.decimals && (charset == kBinaryCharset) == (other.charset == kBinaryCharset);
}

Statement::~Statement() { mysql_stmt_close(statement_); }

Status Statement::failed() const {
  const unsigned number = mysql_stmt_errno(statement_);
  return mysql2arrow::failed(is_broken(number) ? "the connection broke" : "the query failed", number,
                             mysql_stmt_error(statement_));
}

void Statement::describe() {
  columns_.clear();
  const unsigned count = mysql_stmt_field_count(statement_);
  const MYSQL_FIELD* fields = mariadb_stmt_fetch_fields(statement_);
  for (unsigned i = 0; i < count; ++i) {
    const MYSQL_FIELD& field = fields[i];
    const auto text = [](const char* bytes, unsigned size) {
      return bytes == nullptr ? std::string() : std::string(bytes, size);
    };
    ResultColumn column;
    column.name = text(field.name, field.name_length);
    column.database = text(field.db, field.db_length);
    column.table = text(field.org_table, field.org_table_length);
    column.original = text(field.org_name, field.org_name_length);
    MARIADB_CONST_STRING found;
    if (mariadb_field_attr(&found, &field, MARIADB_FIELD_ATTR_DATA_TYPE_NAME) == 0 && found.str != nullptr)
      column.kind.assign(found.str, found.length);
    if (mariadb_field_attr(&found, &field, MARIADB_FIELD_ATTR_FORMAT_NAME) == 0 && found.str != nullptr)
      column.format.assign(found.str, found.length);
    column.type = field.type;
    column.flags = field.flags;
    column.charset = field.charsetnr;
    column.decimals = field.decimals;
    column.length = field.length;
    columns_.push_back(std::move(column));
  }
}

Status Statement::execute() {
  if (mysql_stmt_execute(statement_) != 0) return failed();
  const std::vector<ResultColumn> prepared = columns_;
  describe();
  const bool same = std::equal(prepared.begin(), prepared.end(), columns_.begin(), columns_.end(),
                               [](const auto& before, const auto& now) { return before.is_like(now); });
  if (!same) return Status(ErrorCode::kIoError, "the query's columns have other types than when it was prepared");
  // Rows are taken as they come from the server, and in their binary form: libmariadb's own way binds every value to a
  // variable, which takes three times as long.
  statement_->default_rset_handler(statement_);
  return Status::ok();
}

Result<Statement::RowBytes> Statement::next() {
  unsigned char* row = nullptr;
  unsigned long size = 0;
  const int outcome = statement_->fetch_row_func(statement_, &row, &size);
  if (outcome == 0) return RowBytes{row, static_cast<int64_t>(size)};
  statement_->state = MYSQL_STMT_FETCH_DONE;
  statement_->mysql->status = MYSQL_STATUS_READY;
  if (outcome == MYSQL_NO_DATA) return RowBytes{};
  const unsigned number = mysql_errno(statement_->mysql);
  return mysql2arrow::failed(is_broken(number) ? "the connection broke" : "the query failed", number,
                             mysql_error(statement_->mysql));
}

Connection::Connection(MYSQL* connection, const Settings& settings) : connection_(connection), settings_(settings) {
  is_mariadb_ = std::string_view(mysql_get_server_info(connection)).find("MariaDB") != std::string_view::npos ||
                mariadb_connection(connection);
  on_interrupt_ = std::make_unique<tool::OnInterrupt>([this] { cancel(); });
}

Connection::~Connection() {
  on_interrupt_.reset();
  mysql_close(connection_);
}

Result<std::unique_ptr<Connection>> Connection::open(const Settings& settings) {
  constexpr unsigned kTimeout = 30;
  // Kept for the workers' connections, so that it is asked for once.
  static std::optional<std::string> asked;
  if (settings.always_ask && !asked) asked = tool::ask_password(settings.user);
  const std::optional<std::string>& given = settings.password ? settings.password : asked;
  Owned raw = connect_as_told(settings, given, kTimeout);
  if (raw != nullptr && mysql_errno(raw.get()) == ER_ACCESS_DENIED_ERROR && !given && !settings.never_ask) {
    asked = tool::ask_password(settings.user);
    if (asked) raw = connect_as_told(settings, asked, kTimeout);
  }
  if (raw == nullptr) return Status(ErrorCode::kOutOfMemory, "out of memory while connecting");
  if (mysql_errno(raw.get()) != 0) return failed("could not connect", mysql_errno(raw.get()), mysql_error(raw.get()));
  // libmariadb goes on without encryption when the server has none, whatever it was told.
  if (settings.tls >= TlsMode::kRequired && mysql_get_ssl_cipher(raw.get()) == nullptr)
    return Status(ErrorCode::kIoError, "could not connect: the server does not encrypt connections");
  keep_alive(raw.get());
  Settings known = settings;
  known.password = given;
  auto connection = std::unique_ptr<Connection>(new Connection(raw.release(), known));
  STROM_TRY(connection->begin_session());
  return connection;
}

Status Connection::begin_session() {
  // Values must not depend on the server's settings, and a slow disk must not end the session.
  STROM_TRY(run("SET NAMES utf8mb4"));
  STROM_TRY(run("SET SESSION time_zone = '+00:00', net_write_timeout = 86400, net_read_timeout = 86400"));
  // Servers that do not know it have no limit.
  [[maybe_unused]] const Status unlimited =
      run(is_mariadb_ ? "SET SESSION max_statement_time = 0" : "SET SESSION max_execution_time = 0");
  for (const auto& [name, value] : settings_.server_settings)
    STROM_TRY(run("SET SESSION " + quoted_name(name) + " = " + setting_value(*this, value)));
  return run("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ");
}

Status Connection::run(const std::string& sql) {
  if (mysql_real_query(connection_, sql.data(), sql.size()) != 0)
    return failed("the server refused \"" + sql + "\"", mysql_errno(connection_), mysql_error(connection_));
  if (MYSQL_RES* result = mysql_store_result(connection_)) mysql_free_result(result);
  return Status::ok();
}

Result<std::vector<Row>> Connection::query(const std::string& sql) {
  const auto fail = [&] {
    const unsigned number = mysql_errno(connection_);
    return failed(is_broken(number) ? "the connection broke" : "the query failed", number, mysql_error(connection_));
  };
  if (mysql_real_query(connection_, sql.data(), sql.size()) != 0) return fail();
  const std::unique_ptr<MYSQL_RES, decltype(&mysql_free_result)> result(mysql_store_result(connection_),
                                                                        mysql_free_result);
  if (result == nullptr) return fail();
  std::vector<Row> rows;
  const unsigned count = mysql_num_fields(result.get());
  while (const MYSQL_ROW from = mysql_fetch_row(result.get())) {
    const unsigned long* sizes = mysql_fetch_lengths(result.get());
    Row& row = rows.emplace_back();
    for (unsigned i = 0; i < count; ++i) {
      auto& value = row.emplace_back();
      if (from[i] != nullptr) value.emplace(from[i], sizes[i]);
    }
  }
  return rows;
}

Result<std::unique_ptr<Statement>> Connection::prepare(const std::string& sql) {
  MYSQL_STMT* raw = mysql_stmt_init(connection_);
  if (raw == nullptr) return Status(ErrorCode::kOutOfMemory, "out of memory while preparing the query");
  auto statement = std::make_unique<Statement>(raw);
  if (mysql_stmt_prepare(raw, sql.data(), sql.size()) != 0) return statement->failed();
  statement->describe();
  if (statement->columns().empty())
    return Status(ErrorCode::kInvalidParameter, "the statement returns no rows").with_hint("It must be a query.");
  if (mysql_stmt_param_count(raw) != 0)
    return Status(ErrorCode::kInvalidParameter, "the query has parameters").with_hint("A ? outside of quotes is one.");
  return statement;
}

std::string Connection::quoted_text(const std::string& text) const {
  std::string out(text.size() * 2 + 1, '\0');
  out.resize(mysql_real_escape_string(connection_, out.data(), text.data(), text.size()));
  return "'" + out + "'";
}

void Connection::cancel() const {
  constexpr unsigned kTimeout = 3;
  const Owned other = connect_as_told(settings_, settings_.password, kTimeout);
  if (other != nullptr && mysql_errno(other.get()) == 0) {
    const std::string sql = "KILL " + std::to_string(mysql_thread_id(connection_));
    mysql_real_query(other.get(), sql.data(), sql.size());
  }
  // Wakes up a thread that waits for the server.
  shutdown(static_cast<int>(mysql_get_socket(connection_)), SHUT_RDWR);
}

}  // namespace strom::mysql2arrow
