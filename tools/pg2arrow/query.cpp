// See query.hpp.
#include "pg2arrow/query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "cli/program.hpp"
#include "dump/query_text.hpp"

namespace strom::pg2arrow {

namespace {

using tool::contains;
using tool::kWorkersToken;
using tool::kWorkerToken;
using tool::replaced;

constexpr std::string_view kRange = "$(CTID_RANGE)";

Status usage(std::string message) { return tool::usage_error(std::move(message)); }

/// Pages of the largest heap among a table, its partitions and children; -1 when a range of pages cannot divide it.
Result<int64_t> pages_of(Connection& connection, const std::string& table) {
  STROM_ASSIGN(
      const auto rows,
      connection.query(
          "WITH RECURSIVE t(oid) AS (SELECT $1::regclass::oid UNION"
          " SELECT i.inhrelid FROM pg_catalog.pg_inherits i JOIN t ON i.inhparent = t.oid)"
          " SELECT bool_and(c.relkind = 'p' OR (c.relkind IN ('r', 'm') AND a.amname = 'heap')),"
          " max(pg_catalog.pg_relation_size(c.oid)) / pg_catalog.current_setting('block_size')::bigint"
          " FROM t JOIN pg_catalog.pg_class c ON c.oid = t.oid LEFT JOIN pg_catalog.pg_am a ON a.oid = c.relam",
          {table}));
  if (rows[0][0].value_or("f") != "t") return int64_t{-1};
  return static_cast<int64_t>(atoll(rows[0][1].value_or("0").c_str()));
}

/// Conditions on ctid that divide `pages`. The first has no lower and the last no upper end, so that together they are
/// always the whole table.
std::vector<std::string> page_ranges(int64_t pages, int64_t workers) {
  std::vector<std::string> ranges;
  for (int64_t i = 0; i < workers; ++i) {
    std::string lower, upper;
    if (i > 0) lower = fmt::format("ctid >= '({},0)'::tid", pages * i / workers);
    if (i + 1 < workers) upper = fmt::format("ctid < '({},0)'::tid", pages * (i + 1) / workers);
    ranges.push_back(lower.empty() && upper.empty() ? "true"
                                                    : lower + (lower.empty() || upper.empty() ? "" : " AND ") + upper);
  }
  return ranges;
}

/// One query for each worker, of a text with tokens.
Result<std::vector<std::string>> divided(Connection& connection, const Settings& settings, const std::string& text,
                                         const std::string& range_table, bool must_divide) {
  if (!settings.parallel_keys.empty()) return tool::for_keys(text, settings.parallel_keys);
  STROM_TRY(tool::refuse_key_token(text));
  std::vector<std::string> queries;
  int64_t workers = settings.workers;
  const bool has_range = contains(text, kRange), has_worker = contains(text, kWorkerToken);
  if (workers > 1 && !has_range && !has_worker) {
    return usage(
        fmt::format("-n needs {}, or {} and {}, in the query given by -c", kRange, kWorkerToken, kWorkersToken));
  }
  std::vector<std::string> ranges(static_cast<size_t>(workers), "true");
  if (has_range) {
    if (range_table.empty()) return usage(fmt::format("{} needs --ctid-target=TABLE", kRange));
    STROM_ASSIGN(const int64_t pages, pages_of(connection, range_table));
    if (pages < 0 && must_divide && workers > 1)
      return usage("\"" + range_table + "\" is no heap table, which " + std::string(kRange) + " needs");
    if (pages < 0) {
      if (workers > 1)
        tool::report_warning("pg2arrow", "\"" + range_table + "\" has no pages to divide; one worker reads all of it");
      workers = 1;
      ranges.resize(1);
    } else {
      ranges = page_ranges(pages, workers);
    }
  }
  queries.reserve(static_cast<size_t>(workers));
  for (int64_t i = 0; i < workers; ++i) {
    queries.push_back(tool::for_worker(replaced(text, kRange, ranges[static_cast<size_t>(i)]), i, workers));
  }
  return queries;
}

}  // namespace

Result<std::string> table_reference(Connection& connection, const std::string& table) {
  STROM_ASSIGN(const auto rows, connection.query("SELECT pg_catalog.quote_ident(relname) FROM pg_catalog.pg_class"
                                                 " WHERE relname = $1 AND pg_catalog.pg_table_is_visible(oid)",
                                                 {table}));
  return rows.empty() ? table : rows[0][0].value_or(table);
}

Result<Queries> make_queries(Connection& connection, const Settings& settings) {
  Queries out;
  std::string text, range_table;
  const bool is_table = !settings.table.empty();
  if (is_table) {
    STROM_ASSIGN(range_table, table_reference(connection, settings.table));
    out.shown = "SELECT * FROM " + range_table;
    text = out.shown + (settings.workers > 1 ? " WHERE " + std::string(kRange) : "");
    if (!settings.parallel_keys.empty()) return usage("-k needs a query given by -c");
  } else {
    STROM_ASSIGN(text, tool::command_text(settings.command));
    STROM_ASSIGN(text, tool::with_parameters(std::move(text), settings.parameters));
    out.shown = text;
    if (!settings.ctid_target.empty()) {
      STROM_ASSIGN(range_table, table_reference(connection, settings.ctid_target));
    }
  }
  STROM_ASSIGN(out.workers, divided(connection, settings, text, range_table, !is_table && !settings.all_tables));
  // A view has no ctid, so that the condition must not be there when nothing is divided.
  if (is_table && out.workers.size() == 1) out.workers[0] = out.shown;
  for (const Join& join : settings.joins) {
    out.shown += std::string(join.is_outer ? "\n-- outer join: " : "\n-- inner join: ") + join.sql;
  }
  return out;
}

Status warn_of_lost_rows(Connection& connection, const Settings& settings) {
  if (settings.command.empty() || !settings.parallel_keys.empty()) return Status::ok();
  STROM_ASSIGN(std::string text, tool::command_text(settings.command));
  STROM_ASSIGN(text, tool::with_parameters(std::move(text), settings.parameters));
  const auto lost = tool::lost_rows_query(replaced(std::move(text), kRange, "true"), settings.workers);
  if (!lost.has_value()) return Status::ok();
  STROM_TRY(connection.run("SAVEPOINT lost_rows"));
  const auto rows = connection.query(*lost);  // an error: the text is not what it looks like
  STROM_TRY(connection.run("ROLLBACK TO SAVEPOINT lost_rows"));
  STROM_TRY(connection.run("RELEASE SAVEPOINT lost_rows"));
  if (rows.is_ok() && !rows.value().empty()) tool::report_warning("pg2arrow", tool::kRowsAreLost);
  return Status::ok();
}

Result<std::vector<std::string>> joined_queries(const Connection& connection, const Settings& settings,
                                                const std::vector<ResultColumn>& columns) {
  std::vector<std::string> out;
  for (const Join& join : settings.joins) {
    STROM_ASSIGN(std::string text, tool::command_text(join.sql));
    for (size_t at = text.find("$("); at != std::string::npos; at = text.find("$(", at)) {
      const size_t end = text.find(')', at);
      const std::string name = text.substr(at + 2, end - at - 2);
      const bool known =
          std::any_of(columns.begin(), columns.end(), [&](const auto& column) { return column.name == name; });
      if (end == std::string::npos || !known) {
        return usage("the joined query refers to \"" + name + "\", which is no column of the first query");
      }
      const std::string column = "j0." + connection.quoted_name(name);
      text.replace(at, end + 1 - at, column);
      at += column.size();
    }
    out.push_back(std::move(text));
  }
  return out;
}

std::string join_clause(const Connection& connection, const Settings& settings, const std::string& query,
                        const std::vector<ResultColumn>& columns, const std::vector<std::string>& joined) {
  std::string names;  // since casts take them away
  for (const ResultColumn& column : columns) names += (names.empty() ? "" : ", ") + connection.quoted_name(column.name);
  std::string clause = fmt::format("FROM ({}\n) AS j0({})", query, names);
  for (size_t i = 0; i < joined.size(); ++i) {
    clause += fmt::format("\n{} JOIN LATERAL ({}\n) AS j{} ON true", settings.joins[i].is_outer ? "LEFT" : "INNER",
                          joined[i], i + 1);
  }
  return clause;
}

std::string with_casts(const Connection& connection, const std::string& query, const std::vector<Column>& columns,
                       const Arrangement& arrangement) {
  const std::vector<size_t>& keys = arrangement.keys;
  const bool casts =
      std::any_of(columns.begin(), columns.end(), [](const Column& column) { return !column.cast.empty(); });
  if (!casts && keys.empty() && arrangement.sort.empty()) return query;
  // Names may occur twice in the query, numbers do not.
  std::string list, names, order;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string name = fmt::format("c{}", i);
    names += (names.empty() ? "" : ", ") + name;
    list +=
        fmt::format("{}q.{}{}{}", list.empty() ? "" : ", ", name, columns[i].cast.empty() ? "" : "::", columns[i].cast);
  }
  for (const size_t key : keys) {
    list += fmt::format(", q.c{}::text", key);
    order += fmt::format("{}q.c{}", order.empty() ? " ORDER BY " : ", ", key);
  }
  for (const auto& [column, is_down] : arrangement.sort)
    order += fmt::format("{}q.c{}{}", order.empty() ? " ORDER BY " : ", ", column, is_down ? " DESC" : "");
  if (arrangement.skip > 0) order += fmt::format(" OFFSET {}", arrangement.skip);
  return fmt::format("SELECT {} FROM ({}\n) AS q({}){}", list, query, names, order);
}

Result<Estimate> estimate(Connection& connection, const std::string& query) {
  STROM_ASSIGN(const auto rows, connection.query("EXPLAIN " + query));
  Estimate out;
  for (const Row& row : rows) {
    const std::string line = row[0].value_or("");
    if (out.rows == 0) {
      const size_t at = line.find(" rows=");
      if (at != std::string::npos) out.rows = atof(line.c_str() + at + 6);
    }
    out.is_parallel = out.is_parallel || line.find("Workers Planned:") != std::string::npos;
  }
  return out;
}

}  // namespace strom::pg2arrow
