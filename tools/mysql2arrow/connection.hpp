// A session on a MariaDB or MySQL server, by libmariadb.
#pragma once

#include <mysql.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "cli/program.hpp"
#include "mysql2arrow/settings.hpp"

namespace strom::mysql2arrow {

using Row = std::vector<std::optional<std::string>>;

/// A column of a query's result, as the server describes it.
struct ResultColumn {
  std::string name, database, table, original;  // the last three are empty for what is no column of a table
  std::string kind, format;                     // MariaDB's extended metadata, such as uuid and json
  enum_field_types type = MYSQL_TYPE_STRING;
  uint32_t flags = 0, charset = 0, decimals = 0;
  uint64_t length = 0;

  bool is_unsigned() const { return (flags & UNSIGNED_FLAG) != 0; }
  /// Values are sent in the same form, and mean the same.
  bool is_like(const ResultColumn& other) const;
};

/// A prepared query, and the rows of its execution as they come.
class Statement {
 public:
  explicit Statement(MYSQL_STMT* statement) : statement_(statement) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  const std::vector<ResultColumn>& columns() const { return columns_; }
  Status execute();
  struct RowBytes {
    const uint8_t* bytes = nullptr;  // nullptr: there are no more
    int64_t size = 0;
  };
  /// The next row in its binary form; it stays until the next call.
  Result<RowBytes> next();

 private:
  friend class Connection;
  Status failed() const;
  void describe();

  MYSQL_STMT* statement_;
  std::vector<ResultColumn> columns_;
};

/// Connected until it is destroyed. Used by one thread at a time, but for cancel().
class Connection {
 public:
  /// Asks for a password on the terminal when one is needed and allowed. No transaction is begun.
  static Result<std::unique_ptr<Connection>> open(const Settings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status run(const std::string& sql);
  Result<std::vector<Row>> query(const std::string& sql);
  Result<std::unique_ptr<Statement>> prepare(const std::string& sql);

  /// In single quotes.
  std::string quoted_text(const std::string& text) const;
  /// Ends what runs, from another thread; the session with it.
  void cancel() const;
  bool is_mariadb() const { return is_mariadb_; }
  /// The error number of the last failure.
  unsigned last_error() const { return mysql_errno(connection_); }

 private:
  Connection(MYSQL* connection, const Settings& settings);
  Status begin_session();

  MYSQL* connection_;
  Settings settings_;
  bool is_mariadb_ = false;
  std::unique_ptr<tool::OnInterrupt> on_interrupt_;
};

/// In backticks.
std::string quoted_name(const std::string& name);

}  // namespace strom::mysql2arrow
