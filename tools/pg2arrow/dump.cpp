// See dump.hpp.
#include "pg2arrow/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <thread>

#include "format/arrow/nested_writer.hpp"
#include "format/pgwire/copy_decoder.hpp"
#include "pg2arrow/catalog.hpp"
#include "pg2arrow/output_files.hpp"
#include "pg2arrow/query.hpp"

namespace strom::pg2arrow {

namespace {

using columnar::NestedBuilder;

/// What the workers run and what they get.
struct Plan {
  std::vector<std::string> queries;
  std::vector<Column> columns;
  std::vector<size_t> records;  // not empty: the columns come as records of so many columns each
};

/// The first failure of any worker, which ends the others.
class Failure {
 public:
  explicit Failure(const std::vector<Connection*>& connections) : connections_(connections) {}

  bool is_set() const { return set_; }
  void set(Status status) {
    {
      std::lock_guard lock(mutex_);
      if (set_) return;
      status_ = std::move(status);
      set_ = true;
    }
    for (const Connection* connection : connections_) connection->cancel();
  }
  Status status() const {
    std::lock_guard lock(mutex_);
    return status_;
  }

 private:
  std::vector<Connection*> connections_;
  mutable std::mutex mutex_;
  std::atomic<bool> set_{false};
  Status status_;
};

/// One session's part of the rows.
class Worker {
 public:
  Worker(Connection& connection, const Settings& settings, const Plan& plan, OutputFiles& files,
         tool::Progress& progress)
      : connection_(connection),
        settings_(settings),
        files_(files),
        progress_(progress),
        compressor_(settings.output.compression),
        builders_(builders(files.schema())),
        decoder_(wires(plan.columns), &builders_) {
    decoder_.set_records(plan.records);
  }

  Status run(const std::string& query, const Failure& failure) {
    if (!settings_.partition_by.empty()) {
      decoder_.set_key(static_cast<int>(settings_.partition_by.size()), [this](const auto& values) -> Status {
        STROM_TRY(flush());
        return files_.new_partition(values);
      });
    }
    STROM_TRY(connection_.start_copy(query));
    while (!failure.is_set()) {
      STROM_ASSIGN(const Connection::Data data, connection_.copy_data());
      if (data.bytes == nullptr) {
        STROM_TRY(decoder_.finish());
        return flush();
      }
      STROM_TRY(decoder_.feed(reinterpret_cast<const uint8_t*>(data.bytes.get()), data.size));
      STROM_TRY(flush_if_full(data.size));
    }
    return Status::ok();
  }

 private:
  static std::vector<NestedBuilder> builders(const columnar::NestedSchema& schema) {
    std::vector<NestedBuilder> out;
    out.reserve(schema.fields.size());
    for (const auto& field : schema.fields) out.emplace_back(field);
    return out;
  }
  static std::vector<format::pgwire::WireColumn> wires(const std::vector<Column>& columns) {
    std::vector<format::pgwire::WireColumn> out;
    for (const Column& column : columns) out.push_back(column.wire);
    return out;
  }

  int64_t memory() const {
    int64_t bytes = 0;
    for (const NestedBuilder& builder : builders_) bytes += builder.memory_bytes();
    return bytes;
  }

  /// The columns' size is looked at now and then, since adding it up takes time; counters are brought up to date then,
  /// too.
  Status flush_if_full(int64_t size) {
    constexpr int64_t kMostWireBytes = 1 << 30;
    const int64_t step = std::min<int64_t>(1 << 20, settings_.segment_size / 4);
    step_bytes_ += size;
    const bool rows_full = settings_.rows_per_file > 0 && decoder_.rows() - flushed_rows_ >= settings_.rows_per_file;
    if (step_bytes_ < step && !rows_full) return Status::ok();
    wire_bytes_ += step_bytes_;
    step_bytes_ = 0;
    progress_.add(decoder_.rows() - counted_rows_, 0);
    progress_.add_done(decoder_.rows() - counted_rows_);
    counted_rows_ = decoder_.rows();
    if (rows_full || wire_bytes_ >= kMostWireBytes || memory() >= settings_.segment_size) return flush();
    return Status::ok();
  }

  Status flush() {
    const int64_t rows = decoder_.rows() - flushed_rows_;
    if (rows == 0) return Status::ok();
    STROM_ASSIGN(const auto batch, format::arrow::encode_batch(builders_, rows, compressor_));
    STROM_TRY(files_.write(batch, rows, files_.statistics().of(builders_)));
    progress_.add(decoder_.rows() - counted_rows_, batch.bytes());
    progress_.add_done(decoder_.rows() - counted_rows_);
    counted_rows_ = flushed_rows_ = decoder_.rows();
    wire_bytes_ = 0;
    for (NestedBuilder& builder : builders_) builder.clear();
    return Status::ok();
  }

  Connection& connection_;
  const Settings& settings_;
  OutputFiles& files_;
  tool::Progress& progress_;
  format::arrow::Compressor compressor_;
  std::vector<NestedBuilder> builders_;
  format::pgwire::CopyDecoder decoder_;
  int64_t step_bytes_ = 0, wire_bytes_ = 0, counted_rows_ = 0, flushed_rows_ = 0;
};

Result<std::vector<size_t>> partition_keys(const Settings& settings, const std::vector<Column>& columns) {
  std::vector<size_t> keys;
  for (const std::string& name : settings.partition_by) {
    const auto found =
        std::find_if(columns.begin(), columns.end(), [&](const Column& column) { return column.field.name == name; });
    if (found == columns.end())
      return Status(ErrorCode::kInvalidParameter, "there is no column \"" + name + "\" to divide by");
    keys.push_back(static_cast<size_t>(found - columns.begin()));
  }
  return keys;
}

Status guarded(const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory")
        .with_hint("Make the record batches smaller with -s, or use fewer workers.");
  }
}

Status run_workers(const std::vector<Connection*>& connections, const Plan& plan, const Settings& settings,
                   OutputFiles& files, tool::Progress& progress) {
  const std::vector<std::string>& queries = plan.queries;
  Failure failure(connections);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < queries.size(); ++i) {
    threads.emplace_back([&, i] {
      Status status = guarded([&] {
        Worker worker(*connections[i], settings, plan, files, progress);
        return worker.run(queries[i], failure);
      });
      if (status.is_ok()) return;
      if (queries.size() > 1 && status.code() != ErrorCode::kCancelled) {
        status = Status(status.code(), fmt::format("worker {}: {}", i, status.message()))
                     .with_detail(status.detail())
                     .with_hint(status.hint());
      }
      failure.set(std::move(status));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failure.status();
}

/// Columns that a query can return; beyond these, the joined queries' rows come as records.
constexpr size_t kMostColumns = 1600;

/// One query: what the server returns are the columns.
Status plan_columns(Connection& connection, const Settings& settings, Plan& plan) {
  STROM_ASSIGN(const auto described, connection.describe(plan.queries[0]));
  Catalog catalog(connection, settings);
  STROM_ASSIGN(plan.columns, catalog.columns(described));
  STROM_ASSIGN(const std::vector<size_t> keys, partition_keys(settings, plan.columns));
  for (std::string& query : plan.queries) query = with_casts(connection, query, plan.columns, keys);
  return Status::ok();
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
  if (!settings.partition_by.empty()) {
    return Status(ErrorCode::kInvalidParameter, "--partition-by does not go with more than 1600 columns");
  }
  Catalog catalog(connection, settings);
  list.clear();
  std::vector<Column> own;
  for (size_t i = 0; i < parts.size(); ++i) {
    STROM_ASSIGN(std::vector<Column> columns, catalog.columns(parts[i]));
    if (i == 0) {
      own = columns;
    } else {
      joined[i - 1] = with_casts(connection, joined[i - 1], columns, {});
    }
    plan.records.push_back(columns.size());
    for (Column& column : columns) plan.columns.push_back(std::move(column));
    list += fmt::format("{}j{}", i == 0 ? "" : ", ", i);
  }
  for (std::string& query : plan.queries) {
    query = with_casts(connection, query, own, {});
    query = "SELECT " + list + " " + join_clause(connection, settings, query, first, joined);
  }
  return Status::ok();
}

}  // namespace

Result<DumpResult> dump(Connection& connection, const Settings& settings, tool::Progress& progress) {
  STROM_ASSIGN(const Queries queries, make_queries(connection, settings));
  Plan plan;
  plan.queries = queries.workers;
  STROM_TRY(settings.joins.empty() ? plan_columns(connection, settings, plan) : plan_joins(connection, settings, plan));
  STROM_ASSIGN(const double rows, estimated_rows(connection, plan.queries[0]));
  progress.add_total(static_cast<int64_t>(rows * static_cast<double>(plan.queries.size())));

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
  STROM_ASSIGN(const auto files, OutputFiles::open(settings, plan.columns, queries.shown, progress));
  STROM_TRY(run_workers(connections, plan, settings, *files, progress));
  STROM_TRY(files->finish());
  return DumpResult{files->path(), files->files(), files->batches(), files->rows()};
}

}  // namespace strom::pg2arrow
