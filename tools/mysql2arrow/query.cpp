// See query.hpp.
#include "mysql2arrow/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/program.hpp"
#include "dump/query_text.hpp"

namespace strom::mysql2arrow {

namespace {

using tool::usage_error;
using Wide = __int128;  // all values of signed and unsigned keys

std::string condition(Connection& connection, const Table& table) {
  const std::string database = table.database.empty() ? "DATABASE()" : connection.quoted_text(table.database);
  return fmt::format("TABLE_SCHEMA = {} AND TABLE_NAME = {}", database, connection.quoted_text(table.name));
}

Wide number(const std::string& text) {
  return text[0] == '-' ? Wide{strtoll(text.c_str(), nullptr, 10)} : Wide{strtoull(text.c_str(), nullptr, 10)};
}

std::string text_of(Wide value) {
  return value < 0 ? std::to_string(static_cast<int64_t>(value)) : std::to_string(static_cast<uint64_t>(value));
}

/// The first column of the primary key, when it is a whole number; empty otherwise.
Result<std::string> key_column(Connection& connection, const Table& table) {
  STROM_ASSIGN(
      const auto rows,
      connection.query("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE " + condition(connection, table) +
                       " AND DATA_TYPE IN ('tinyint', 'smallint', 'mediumint', 'int', 'bigint') AND"
                       " COLUMN_NAME IN (SELECT COLUMN_NAME FROM information_schema.STATISTICS WHERE " +
                       condition(connection, table) + " AND INDEX_NAME = 'PRIMARY' AND SEQ_IN_INDEX = 1)"));
  return rows.empty() ? std::string() : rows[0][0].value_or("");
}

/// Conditions on the key. The first has no lower and the last no upper end, so that together they are always the whole
/// table.
Result<std::vector<std::string>> key_ranges(Connection& connection, const Table& table, const std::string& key,
                                            int64_t parts) {
  const std::string name = quoted_name(key);
  STROM_ASSIGN(const auto rows,
               connection.query(fmt::format("SELECT MIN({0}), MAX({0}) FROM {1}", name, table.reference())));
  if (!rows[0][0] || !rows[0][1]) return std::vector<std::string>{"TRUE"};
  const Wide least = number(*rows[0][0]), width = number(*rows[0][1]) - least + 1;
  const auto count = static_cast<int64_t>(std::min<Wide>(width, parts));
  std::vector<std::string> ranges;
  for (int64_t i = 0; i < count; ++i) {
    const std::string lower = fmt::format("{} >= {}", name, text_of(least + width * i / count));
    const std::string upper = fmt::format("{} < {}", name, text_of(least + width * (i + 1) / count));
    if (i == 0) {
      ranges.push_back(count == 1 ? "TRUE" : upper);
    } else {
      ranges.push_back(i + 1 == count ? lower : lower + " AND " + upper);
    }
  }
  return ranges;
}

Result<Queries> table_queries(Connection& connection, const Settings& settings, const Table& table) {
  Queries out;
  out.shown = "SELECT * FROM " + table.reference();
  STROM_ASSIGN(const auto rows, connection.query("SELECT TABLE_ROWS FROM information_schema.TABLES WHERE " +
                                                 condition(connection, table)));
  if (!rows.empty()) out.rows = atof(rows[0][0].value_or("0").c_str());
  out.workers = 1;
  if (settings.workers == 1) {
    out.parts = {out.shown};
    return out;
  }
  STROM_ASSIGN(const std::string key, key_column(connection, table));
  if (key.empty()) {
    tool::report_warning("mysql2arrow", "\"" + table.name +
                                            "\" has no primary key that begins with a whole number; one worker reads "
                                            "all of it");
    out.parts = {out.shown};
    return out;
  }
  // Keys are seldom spread evenly; small tables are not worth the queries.
  constexpr double kLeastRows = 10'000;
  constexpr int64_t kPartsOfWorker = 8;
  const int64_t parts =
      settings.workers * (out.rows / static_cast<double>(settings.workers) >= kLeastRows ? kPartsOfWorker : 1);
  STROM_ASSIGN(const auto ranges, key_ranges(connection, table, key, parts));
  for (const std::string& range : ranges) out.parts.push_back(out.shown + " WHERE " + range);
  out.workers = std::min(out.parts.size(), static_cast<size_t>(settings.workers));
  return out;
}

}  // namespace

std::string Table::reference() const {
  return (database.empty() ? "" : quoted_name(database) + ".") + quoted_name(name);
}

Result<Table> find_table(Connection& connection, const std::string& name) {
  std::vector<Table> candidates = {{"", name}};
  const size_t dot = name.find('.');
  if (dot != std::string::npos) candidates.push_back({name.substr(0, dot), name.substr(dot + 1)});
  for (const Table& table : candidates) {
    STROM_ASSIGN(const auto rows,
                 connection.query("SELECT 1 FROM information_schema.TABLES WHERE " + condition(connection, table)));
    if (!rows.empty()) return table;
  }
  return Status(ErrorCode::kInvalidParameter, "there is no table \"" + name + "\"")
      .with_hint("Its database is named by -d, or before a dot.");
}

Result<std::vector<Table>> all_tables(Connection& connection) {
  STROM_ASSIGN(const auto rows,
               connection.query("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND"
                                " TABLE_TYPE = 'BASE TABLE' ORDER BY 1"));
  std::vector<Table> tables;
  tables.reserve(rows.size());
  for (const Row& row : rows) tables.push_back({"", row[0].value_or("")});
  return tables;
}

Result<Queries> make_queries(Connection& connection, const Settings& settings, const Table* table) {
  if (table != nullptr) {
    if (!settings.parallel_keys.empty()) return usage_error("-k needs a query given by -c");
    return table_queries(connection, settings, *table);
  }
  Queries out;
  STROM_ASSIGN(out.shown, tool::command_text(settings.command));
  STROM_ASSIGN(out.shown, tool::with_parameters(std::move(out.shown), settings.parameters));
  if (!settings.parallel_keys.empty()) {
    STROM_ASSIGN(out.parts, tool::for_keys(out.shown, settings.parallel_keys));
    out.workers = out.parts.size();
    return out;
  }
  STROM_TRY(tool::refuse_key_token(out.shown));
  if (settings.workers > 1 && !tool::contains(out.shown, tool::kWorkerToken))
    return usage_error(
        fmt::format("-n needs {} and {} in the query given by -c", tool::kWorkerToken, tool::kWorkersToken));
  for (int64_t i = 0; i < settings.workers; ++i) out.parts.push_back(tool::for_worker(out.shown, i, settings.workers));
  out.workers = out.parts.size();
  return out;
}

}  // namespace strom::mysql2arrow
