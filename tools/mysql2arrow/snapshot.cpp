// See snapshot.hpp.
#include "mysql2arrow/snapshot.hpp"

#include <fmt/format.h>

namespace strom::mysql2arrow {

namespace {

Status begin(Connection& session) { return session.run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"); }

Status begin_all(const std::vector<Connection*>& sessions) {
  for (Connection* session : sessions) STROM_TRY(begin(*session));
  return Status::ok();
}

/// Tables of engines without snapshots: a session sees their rows as they are when it reads.
Result<std::vector<std::string>> without_snapshots(Connection& session, const std::vector<Table>& tables) {
  std::vector<std::string> names;
  for (const Table& table : tables) {
    const std::string database = table.database.empty() ? "DATABASE()" : session.quoted_text(table.database);
    STROM_ASSIGN(const auto rows,
                 session.query(fmt::format("SELECT TABLE_NAME FROM information_schema.TABLES JOIN"
                                           " information_schema.ENGINES USING (ENGINE) WHERE TABLE_SCHEMA = {} AND"
                                           " TABLE_NAME = {} AND TRANSACTIONS <> 'YES'",
                                           database, session.quoted_text(table.name))));
    if (!rows.empty()) names.push_back(table.name);
  }
  return names;
}

/// Locks the tables while the sessions begin. Writers wait as long.
Result<std::string> lock(Connection& locks, const std::vector<Table>& tables, bool all_known) {
  const Status flushed = locks.run("FLUSH TABLES WITH READ LOCK");
  if (flushed.is_ok()) return std::string("FLUSH TABLES WITH READ LOCK");
  if (all_known && !tables.empty()) {
    std::string list;
    for (const Table& table : tables) list += (list.empty() ? "" : ", ") + table.reference() + " READ";
    STROM_TRY(locks.run("LOCK TABLES " + list));
    return "LOCK TABLES " + list;
  }
  return Status(ErrorCode::kUnsupported, "several workers cannot be given the same rows to see")
      .with_detail(flushed.message())
      .with_hint("Give the user the privilege RELOAD, dump a table with -t, use one worker, or --no-snapshot.");
}

}  // namespace

Result<Snapshot> begin_snapshot(const std::vector<Connection*>& sessions, const Settings& settings,
                                const std::vector<Table>& tables, bool all_known) {
  Snapshot out;
  if (sessions.size() == 1 || settings.no_snapshot) {
    STROM_TRY(begin_all(sessions));
    out.how = sessions.size() == 1 ? "START TRANSACTION WITH CONSISTENT SNAPSHOT" : "none: each session has its own";
    return out;
  }
  STROM_ASSIGN(out.locks, Connection::open(settings));
  STROM_ASSIGN(out.how, lock(*out.locks, tables, all_known));
  STROM_TRY(begin_all(sessions));
  out.how += ", START TRANSACTION WITH CONSISTENT SNAPSHOT in each session";
  STROM_ASSIGN(const auto names, without_snapshots(*out.locks, tables));
  if (names.empty()) {
    STROM_TRY(out.locks->run("UNLOCK TABLES"));
    out.locks.reset();
  } else {
    out.how += fmt::format("; locked until the end, because \"{}\" has no snapshots", names[0]);
  }
  return out;
}

}  // namespace strom::mysql2arrow
