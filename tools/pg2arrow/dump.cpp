// See dump.hpp.
#include "pg2arrow/dump.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dump/output_files.hpp"
#include "dump/row_batches.hpp"
#include "dump/sessions.hpp"
#include "format/pgwire/copy_decoder.hpp"
#include "pg2arrow/plan.hpp"
#include "pg2arrow/query.hpp"
#include "pg2arrow/server_batches.hpp"

namespace strom::pg2arrow {

namespace {

std::vector<format::pgwire::WireColumn> wires(const std::vector<Column>& columns) {
  std::vector<format::pgwire::WireColumn> out;
  out.reserve(columns.size());
  for (const Column& column : columns) out.push_back(column.wire);
  return out;
}

/// One session's part of the rows.
Status run_worker(Connection& connection, const Settings& settings, const Plan& plan, size_t worker,
                  tool::OutputFiles& files, tool::Progress& progress, const tool::Failure& failure) {
  tool::RowBatches batches(settings, files, progress, worker);
  format::pgwire::CopyDecoder decoder(wires(plan.columns), &batches.columns());
  decoder.set_records(plan.records);
  if (!settings.partition_by.empty()) {
    decoder.set_key(static_cast<int>(settings.partition_by.size()), [&](const auto& values) -> Status {
      STROM_TRY(batches.flush(decoder.rows()));
      return files.new_partition(values);
    });
  }
  STROM_TRY(connection.start_copy(plan.queries[worker]));
  while (!failure.is_set()) {
    STROM_ASSIGN(const Connection::Data data, connection.copy_data());
    if (data.bytes == nullptr) {
      STROM_TRY(decoder.finish());
      return batches.flush(decoder.rows());
    }
    STROM_TRY(decoder.feed(reinterpret_cast<const uint8_t*>(data.bytes.get()), data.size));
    STROM_TRY(batches.advance(decoder.rows(), data.size));
  }
  return Status::ok();
}

void collect(const columnar::Field& field, const format::pgwire::WireColumn& wire, tool::Dictionaries& dictionaries) {
  if (field.dictionary) dictionaries.emplace(field.dictionary_id, tool::Dictionary{wire.labels});
  for (size_t i = 0; i < field.children.size(); ++i) collect(field.children[i], wire.children[i], dictionaries);
}

/// A file that is appended to may have other dictionaries.
void relabel(const columnar::Field& field, format::pgwire::WireColumn& wire, const tool::Dictionaries& dictionaries) {
  if (field.dictionary) wire.labels = dictionaries.at(field.dictionary_id).labels;
  for (size_t i = 0; i < field.children.size(); ++i) relabel(field.children[i], wire.children[i], dictionaries);
}

Result<size_t> find_column(const std::vector<Column>& columns, const std::string& name, const char* what) {
  const auto found =
      std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.field.name == name; });
  if (found == columns.end())
    return Status(ErrorCode::kInvalidParameter, "there is no column \"" + name + "\" to " + what + " by");
  return static_cast<size_t>(found - columns.begin());
}

Result<Arrangement> arrangement_of(const Settings& settings, const std::vector<Column>& columns) {
  constexpr std::string_view kDown = ":desc";
  Arrangement out;
  out.skip = settings.skip_rows;
  for (const std::string& name : settings.partition_by) {
    STROM_ASSIGN(const size_t column, find_column(columns, name, "divide"));
    out.keys.push_back(column);
  }
  for (std::string name : settings.sort_by) {
    const bool is_down = name.size() > kDown.size() && name.substr(name.size() - kDown.size()) == kDown;
    if (is_down) name.resize(name.size() - kDown.size());
    STROM_ASSIGN(const size_t column, find_column(columns, name, "sort"));
    out.sort.emplace_back(column, is_down);
  }
  return out;
}

/// Columns that a query can return; beyond these, the joined queries' rows come as records.
constexpr size_t kMostColumns = 1600;

/// One query: what the server returns are the columns.
Status plan_columns(Connection& connection, const Settings& settings, Plan& plan) {
  STROM_ASSIGN(const auto described, connection.describe(plan.queries[0]));
  Catalog catalog(connection, settings);
  STROM_ASSIGN(plan.columns, catalog.columns(described, plan.queries[0]));
  STROM_ASSIGN(const Arrangement arrangement, arrangement_of(settings, plan.columns));
  for (std::string& query : plan.queries) query = with_casts(connection, query, plan.columns, arrangement);
  return Status::ok();
}

/// ORDER BY and OFFSET for columns that come as records: those of the sub-queries.
Result<std::string> record_order(const Connection& connection, const Settings& settings, const Plan& plan) {
  STROM_ASSIGN(const Arrangement arrangement, arrangement_of(settings, plan.columns));
  std::string order;
  for (const auto& [column, is_down] : arrangement.sort) {
    size_t part = 0, begin = 0;
    while (column >= begin + plan.records[part]) begin += plan.records[part++];
    const auto first = plan.columns.begin() + static_cast<std::ptrdiff_t>(begin);
    const bool has_casts = std::any_of(first, first + static_cast<std::ptrdiff_t>(plan.records[part]),
                                       [](const Column& each) { return !each.cast.empty(); });
    const Column& found = plan.columns[column];
    if (!found.cast.empty())
      return Status(ErrorCode::kInvalidParameter,
                    "--sort-by cannot name column \"" + found.field.name + "\" beside more than 1600 columns")
          .with_detail("Its type is written as text.")
          .with_hint("Sort by a column of another type.");
    // Sub-queries with casts have numbers for names, but for the first.
    const std::string name =
        part > 0 && has_casts ? fmt::format("c{}", column - begin) : connection.quoted_name(found.field.name);
    order += fmt::format("{}j{}.{}{}", order.empty() ? "\nORDER BY " : ", ", part, name, is_down ? " DESC" : "");
  }
  if (arrangement.skip > 0) order += fmt::format(" OFFSET {}", arrangement.skip);
  return order;
}

/// A query and others that are joined to it.
Status plan_joins(Connection& connection, const Settings& settings, Plan& plan) {
  STROM_ASSIGN(const auto first, connection.describe(plan.queries[0]));
  STROM_ASSIGN(std::vector<std::string> joined, joined_queries(connection, settings, first));
  std::vector<std::vector<ResultColumn>> parts = {first};
  size_t total = first.size();
  std::string list = "j0.*";
  for (size_t i = 1; i <= joined.size(); ++i) {
    const std::string clause = join_clause(connection, settings, plan.queries[0], first, joined);
    STROM_ASSIGN(auto described, connection.describe(fmt::format("SELECT j{}.* {}", i, clause)));
    total += described.size();
    list += fmt::format(", j{}.*", i);
    parts.push_back(std::move(described));
  }
  if (total <= kMostColumns) {
    for (std::string& query : plan.queries) {
      query = "SELECT " + list + " " + join_clause(connection, settings, query, first, joined);
    }
    return plan_columns(connection, settings, plan);
  }
  if (!settings.partition_by.empty())
    return Status(ErrorCode::kInvalidParameter, "--partition-by does not go with more than 1600 columns");
  Catalog catalog(connection, settings);
  list.clear();
  std::vector<Column> own;
  for (size_t i = 0; i < parts.size(); ++i) {
    STROM_ASSIGN(std::vector<Column> columns, catalog.columns(parts[i], ""));
    if (i == 0) {
      own = columns;
    } else {
      joined[i - 1] = with_casts(connection, joined[i - 1], columns, {});
    }
    plan.records.push_back(columns.size());
    for (Column& column : columns) plan.columns.push_back(std::move(column));
    list += fmt::format("{}j{}", i == 0 ? "" : ", ", i);
  }
  STROM_ASSIGN(const std::string order, record_order(connection, settings, plan));
  for (std::string& query : plan.queries) {
    query = with_casts(connection, query, own, {});
    query = "SELECT " + list + " " + join_clause(connection, settings, query, first, joined) + order;
  }
  return Status::ok();
}

}  // namespace

tool::Contents contents_of(const std::vector<Column>& columns) {
  tool::Contents contents;
  for (const Column& column : columns) {
    contents.fields.push_back(column.field);
    collect(column.field, column.wire, contents.dictionaries);
  }
  return contents;
}

Result<DumpResult> dump(Connection& connection, const Settings& given, tool::Progress& progress) {
  Settings settings = given;
  if (settings.resume && settings.rows_per_file > 0) {
    STROM_ASSIGN(const tool::WrittenParts written, tool::written_parts(settings));
    settings.first_part = written.files;
    settings.skip_rows = written.rows;
    progress.note(fmt::format("{} files with {} rows are there", written.files, written.rows));
  }
  STROM_ASSIGN(const Queries queries, make_queries(connection, settings));
  STROM_TRY(warn_of_lost_rows(connection, settings));
  Plan plan;
  plan.queries = queries.workers;
  STROM_TRY(settings.joins.empty() ? plan_columns(connection, settings, plan) : plan_joins(connection, settings, plan));
  STROM_ASSIGN(const Estimate estimated, estimate(connection, plan.queries[0]));
  progress.add_total(static_cast<int64_t>(estimated.rows * static_cast<double>(plan.queries.size())));
  plan.is_parallel = estimated.is_parallel;
  STROM_ASSIGN(const ServerSide server_side, find_server_side(connection, settings, plan));
  const bool is_server_side = !server_side.function.empty();
  progress.note(is_server_side ? "record batches made by the server: " + server_side.function
                               : "rows by COPY: " + server_side.why_not);

  std::vector<Connection*> connections = {&connection};
  std::vector<std::unique_ptr<Connection>> others;
  if (plan.queries.size() > 1) {
    STROM_ASSIGN(const std::string snapshot, connection.export_snapshot());
    for (size_t i = 1; i < plan.queries.size(); ++i) {
      STROM_ASSIGN(auto other, Connection::open(settings));
      STROM_TRY(other->use_snapshot(snapshot));
      connections.push_back(other.get());
      others.push_back(std::move(other));
    }
  }
  for (size_t i = 0; i < plan.queries.size(); ++i) progress.note(fmt::format("worker:{} SQL=[{}]", i, plan.queries[i]));
  tool::Contents contents = contents_of(plan.columns);
  STROM_ASSIGN(const auto files,
               tool::OutputFiles::open(settings, contents, {{"sql_command", queries.shown}}, progress));
  for (size_t i = 0; i < plan.columns.size(); ++i)
    relabel(contents.fields[i], plan.columns[i].wire, contents.dictionaries);
  const auto stop = [&] {
    for (const Connection* each : connections) each->cancel();
  };
  STROM_TRY(tool::run_sessions(plan.queries.size(), stop, [&](size_t i, const tool::Failure& failure) {
    if (is_server_side)
      return run_server_side(*connections[i], settings, server_side.function, {plan.queries[i], i},
                             contents.dictionaries, *files, progress, failure);
    return run_worker(*connections[i], settings, plan, i, *files, progress, failure);
  }));
  STROM_TRY(files->finish());
  return files->result();
}

}  // namespace strom::pg2arrow
