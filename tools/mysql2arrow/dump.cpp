// See dump.hpp.
#include "mysql2arrow/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "cli/program.hpp"
#include "dump/output_files.hpp"
#include "dump/query_text.hpp"
#include "dump/row_batches.hpp"
#include "dump/sessions.hpp"
#include "dump/sql_table.hpp"
#include "dump/table_folder.hpp"
#include "mysql2arrow/catalog.hpp"
#include "mysql2arrow/query.hpp"
#include "mysql2arrow/snapshot.hpp"

namespace strom::mysql2arrow {

namespace {

using format::mysqlwire::RowDecoder;

/// What the sessions read together: parts, of which each takes the next one.
struct Work {
  const Settings& settings;
  const Columns& columns;
  const std::vector<ResultColumn>& described;
  const std::vector<std::string>& parts;
  tool::OutputFiles& files;
  tool::Progress& progress;
  std::atomic<size_t> next;  // behind the first ones, which each worker has by its number
};

/// Rows of a part.
Status read_part(Connection& connection, const Work& work, const std::string& query, RowDecoder& decoder,
                 tool::RowBatches& batches, const tool::Failure& failure) {
  STROM_ASSIGN(const auto statement, connection.prepare(query));
  const std::vector<ResultColumn>& own = statement->columns();
  if (!std::equal(own.begin(), own.end(), work.described.begin(), work.described.end(),
                  [](const auto& a, const auto& b) { return a.is_like(b); }))
    return Status(ErrorCode::kTypeMismatch, "the workers' queries have different columns");
  STROM_TRY(statement->execute());
  while (!failure.is_set()) {
    STROM_ASSIGN(const auto row, statement->next());
    if (row.bytes == nullptr) break;
    STROM_TRY(decoder.append(row.bytes, row.size));
    STROM_TRY(batches.advance(decoder.rows(), row.size));
  }
  return Status::ok();
}

Status run_worker(Connection& connection, Work& work, size_t index, const tool::Failure& failure) {
  tool::RowBatches batches(work.settings, work.files, work.progress, index);
  RowDecoder decoder(work.columns.wires, &batches.columns());
  for (size_t part = index; part < work.parts.size() && !failure.is_set(); part = work.next.fetch_add(1)) {
    work.progress.note(fmt::format("worker:{} SQL=[{}]", index, work.parts[part]));
    STROM_TRY(read_part(connection, work, work.parts[part], decoder, batches, failure));
  }
  return failure.is_set() ? Status::ok() : batches.flush(decoder.rows());
}

/// As many sessions as workers, each in its transaction.
class Sessions {
 public:
  static Result<std::unique_ptr<Sessions>> open(std::unique_ptr<Connection> first, const Settings& settings,
                                                size_t count, const std::vector<Table>& tables, bool all_known,
                                                tool::Progress& progress) {
    auto sessions = std::make_unique<Sessions>();
    sessions->all_.push_back(std::move(first));
    while (sessions->all_.size() < count) {
      STROM_ASSIGN(auto other, Connection::open(settings));
      sessions->all_.push_back(std::move(other));
    }
    std::vector<Connection*> pointers;
    for (const auto& session : sessions->all_) pointers.push_back(session.get());
    STROM_ASSIGN(sessions->snapshot_, begin_snapshot(pointers, settings, tables, all_known));
    progress.note("snapshot: " + sessions->snapshot_.how);
    return sessions;
  }
  Connection& operator[](size_t index) { return *all_[index]; }
  void cancel() const {
    for (const auto& session : all_) session->cancel();
  }

 private:
  std::vector<std::unique_ptr<Connection>> all_;
  Snapshot snapshot_;
};

Result<DumpResult> dump_queries(Sessions& sessions, const Settings& settings, const Queries& queries,
                                tool::Progress& progress) {
  std::vector<ResultColumn> described;
  {
    STROM_ASSIGN(const auto statement, sessions[0].prepare(queries.parts[0]));
    described = statement->columns();
  }
  STROM_ASSIGN(Columns columns, make_columns(sessions[0], settings, described, queries.parts[0]));
  progress.add_total(static_cast<int64_t>(queries.rows));
  STROM_ASSIGN(const auto files,
               tool::OutputFiles::open(settings, columns.contents, {{"sql_command", queries.shown}}, progress));
  for (size_t i = 0; i < columns.wires.size(); ++i) {
    const columnar::Field& field = columns.contents.fields[i];
    if (field.dictionary) columns.wires[i].labels = columns.contents.dictionaries.at(field.dictionary_id).labels;
  }
  Work work{settings, columns, described, queries.parts, *files, progress, queries.workers};
  STROM_TRY(tool::run_sessions(
      queries.workers, [&] { sessions.cancel(); },
      [&](size_t i, const tool::Failure& failure) { return run_worker(sessions[i], work, i, failure); }));
  STROM_TRY(files->finish());
  return files->result();
}

/// Tables whose columns a query returns.
std::vector<Table> tables_of(const std::vector<ResultColumn>& columns) {
  std::vector<Table> tables;
  for (const ResultColumn& column : columns) {
    if (!column.table.empty()) tables.push_back({column.database, column.table});
  }
  return tables;
}

}  // namespace

Result<DumpResult> dump(const Settings& settings, tool::Progress& progress) {
  STROM_ASSIGN(auto first, Connection::open(settings));
  std::vector<Table> tables;
  if (!settings.table.empty()) {
    STROM_ASSIGN(const Table table, find_table(*first, settings.table));
    tables.push_back(table);
  }
  STROM_ASSIGN(const Queries queries, make_queries(*first, settings, tables.empty() ? nullptr : tables.data()));
  const bool all_known = !tables.empty();
  if (!all_known && queries.workers > 1) {
    STROM_ASSIGN(const auto statement, first->prepare(queries.parts[0]));
    tables = tables_of(statement->columns());
  }
  STROM_ASSIGN(const auto sessions,
               Sessions::open(std::move(first), settings, queries.workers, tables, all_known, progress));
  if (!all_known && settings.parallel_keys.empty()) {
    const auto lost = tool::lost_rows_query(queries.shown, settings.workers);
    if (lost.has_value()) {
      const auto rows = (*sessions)[0].query(*lost);  // an error: the text is not what it looks like
      if (rows.is_ok() && !rows.value().empty()) tool::report_warning("mysql2arrow", tool::kRowsAreLost);
    }
  }
  return dump_queries(*sessions, settings, queries, progress);
}

Result<DumpResult> dump_all_tables(const Settings& settings, tool::Progress& progress) {
  STROM_ASSIGN(auto first, Connection::open(settings));
  STROM_ASSIGN(const std::vector<Table> tables, all_tables(*first));
  std::vector<tool::SourceTable> sources;
  sources.reserve(tables.size());
  for (const Table& table : tables) sources.push_back({table.name, table.name, tool::quote_identifier(table.name)});
  STROM_ASSIGN(const auto sessions, Sessions::open(std::move(first), settings, static_cast<size_t>(settings.workers),
                                                   tables, true, progress));
  return tool::dump_tables(settings, sources, [&](size_t index, const std::string& path) -> Result<DumpResult> {
    Settings one = settings;
    one.output.path = path;
    STROM_ASSIGN(const Queries queries, make_queries((*sessions)[0], one, &tables[index]));
    return dump_queries(*sessions, one, queries, progress);
  });
}

}  // namespace strom::mysql2arrow
