// The session on the PostgreSQL server: it gives tokens, and makes changes.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "kv/stromkv.h"
#include "strom-kv/settings.hpp"
#include "strom-kv/text_codec.hpp"

namespace strom::kv_tool {

class Session {
 public:
  static Result<Session> open(const Settings& settings);

  /// The first row of what a statement returns; empty: there is none. `changed`, if not nullptr: rows that changed.
  Result<std::vector<std::string>> first_row(const std::string& sql, const std::vector<std::string>& parameters,
                                             int64_t* changed = nullptr);
  /// All rows.
  Result<std::vector<std::vector<std::string>>> all_rows(const std::string& sql,
                                                         const std::vector<std::string>& parameters,
                                                         int64_t* changed = nullptr);
  /// The machine that the session goes to.
  std::string host() const;
  /// Of the database. Errors: kUnsupported.
  Result<TextCodec> codec() const;
  std::string quoted_name(const std::string& name) const;

 private:
  explicit Session(tool::ServerConnection connection) : connection_(std::move(connection)) {}
  tool::ServerConnection connection_;
};

struct Detach {
  void operator()(stromkv* table) const { stromkv_detach(table); }
  void operator()(stromkv_reader* reader) const { stromkv_reader_close(reader); }
};
struct Table {
  std::unique_ptr<stromkv, Detach> attached;
  TextCodec text;
  stromkv* get() const { return attached.get(); }
};
using Reader = std::unique_ptr<stromkv_reader, Detach>;

/// Checks that the table has all columns of the row that settings.arguments has as JSON.
Status check_columns(Session& session, const Settings& settings);

/// A failure of the library.
Status failed(stromkv_status status, const std::string& detail = {});

/// What a socket wants to be shown.
struct Grant {
  std::string socket, token;
  TextCodec text{};  // of the database; with settings.token that of UTF-8
};
/// settings.token, or what pgstrom's function, kv_attach or kv_session, gives to a session; with --tcp that of
/// kv_session_tcp.
Result<Grant> ask_for_token(const Settings& settings, const std::string& function);

/// The table's region.
Result<Table> attach(const Settings& settings);
Result<Reader> open_reader(const Table& table);

}  // namespace strom::kv_tool
