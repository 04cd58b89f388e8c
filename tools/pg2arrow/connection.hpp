// A session on a PostgreSQL server, by libpq.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "cli/program.hpp"
#include "pg2arrow/settings.hpp"

namespace strom::pg2arrow {

using Row = std::vector<std::optional<std::string>>;

struct ResultColumn {
  std::string name;
  uint32_t type = 0;
  int32_t modifier = -1;
  uint32_t table = 0;  // whose column it is; 0: none
  int number = 0;
};

/// Connected until it is destroyed. Used by one thread at a time, but for cancel().
class Connection {
 public:
  /// Asks for a password on the terminal when one is needed and allowed. A transaction is begun: read-only, with one
  /// snapshot for all of it.
  static Result<std::unique_ptr<Connection>> open(const Settings& settings);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  Status run(const std::string& sql);
  Result<std::vector<Row>> query(const std::string& sql, const std::vector<std::string>& parameters = {});
  /// The first column's values in binary form; NULL is empty.
  Result<std::vector<std::string>> binary_values(const std::string& sql);
  /// The columns that a query would return.
  Result<std::vector<ResultColumn>> describe(const std::string& sql);
  /// The name of this transaction's snapshot, and its use by another.
  Result<std::string> export_snapshot();
  Status use_snapshot(const std::string& name);

  /// Starts COPY (`sql`) TO STDOUT in binary form; then copy_data() until it gives nullptr.
  Status start_copy(const std::string& sql);
  struct Free {
    void operator()(char* bytes) const { PQfreemem(bytes); }
  };
  struct Data {
    std::unique_ptr<char, Free> bytes;
    int64_t size = 0;
  };
  Result<Data> copy_data();

  std::string quoted_name(const std::string& name) const;
  std::string quoted_text(const std::string& text) const;
  /// Ends what runs, from another thread.
  void cancel() const;
  /// A setting that the server reports, such as server_encoding.
  std::string parameter(const char* name) const;

 private:
  explicit Connection(PGconn* connection);
  /// `sql`: the statement, if the server may have found a place in it.
  Status failed(const std::string& what, const PGresult* result, const std::string& sql = {}) const;

  PGconn* connection_;
  PGcancel* cancel_;
  std::unique_ptr<tool::OnInterrupt> on_interrupt_;
};

}  // namespace strom::pg2arrow
