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
  Worker(Connection& connection, const Settings& settings, const std::vector<Column>& columns, OutputFiles& files,
         tool::Progress& progress)
      : connection_(connection),
        settings_(settings),
        files_(files),
        progress_(progress),
        compressor_(settings.output.compression),
        builders_(builders(files.schema())),
        decoder_(wires(columns), &builders_) {}

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

Status run_workers(const std::vector<Connection*>& connections, const std::vector<std::string>& queries,
                   const Settings& settings, const std::vector<Column>& columns, OutputFiles& files,
                   tool::Progress& progress) {
  Failure failure(connections);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < queries.size(); ++i) {
    threads.emplace_back([&, i] {
      Status status = guarded([&] {
        Worker worker(*connections[i], settings, columns, files, progress);
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

}  // namespace

Result<DumpResult> dump(Connection& connection, const Settings& settings, tool::Progress& progress) {
  STROM_ASSIGN(Queries queries, make_queries(connection, settings));
  STROM_ASSIGN(const auto described, connection.describe(queries.workers[0]));
  Catalog catalog(connection, settings);
  STROM_ASSIGN(std::vector<Column> columns, catalog.columns(described));
  STROM_ASSIGN(const std::vector<size_t> keys, partition_keys(settings, columns));
  STROM_ASSIGN(const double rows, estimated_rows(connection, queries.workers[0]));
  progress.add_total(static_cast<int64_t>(rows * static_cast<double>(queries.workers.size())));
  for (std::string& query : queries.workers) query = with_casts(connection, query, columns, keys);

  std::vector<Connection*> connections = {&connection};
  std::vector<std::unique_ptr<Connection>> others;
  if (queries.workers.size() > 1) {
    STROM_ASSIGN(const std::string snapshot, connection.export_snapshot());
    for (size_t i = 1; i < queries.workers.size(); ++i) {
      STROM_ASSIGN(auto other, Connection::open(settings));
      STROM_TRY(other->use_snapshot(snapshot));
      connections.push_back(other.get());
      others.push_back(std::move(other));
    }
  }
  for (size_t i = 0; i < queries.workers.size(); ++i)
    progress.note(fmt::format("worker:{} SQL=[{}]", i, queries.workers[i]));
  STROM_ASSIGN(const auto files, OutputFiles::open(settings, columns, queries.shown, progress));
  STROM_TRY(run_workers(connections, queries.workers, settings, columns, *files, progress));
  STROM_TRY(files->finish());
  return DumpResult{files->path(), files->files(), files->batches(), files->rows()};
}

}  // namespace strom::pg2arrow
