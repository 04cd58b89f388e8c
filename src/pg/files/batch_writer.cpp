// See batch_writer.hpp.
#include "pg/files/batch_writer.hpp"

#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include "base/blocked_signals.hpp"
#include "base/thread_memory.hpp"
#include "format/arrow/statistics/batch_statistics.hpp"

namespace strom::pg::files {

using columnar::ColumnBuilder;

namespace {

constexpr std::chrono::milliseconds kPollInterval{10};

void clear(BatchWriter::Columns& columns) {
  for (ColumnBuilder& column : columns) column.clear();
}

}  // namespace

Status BatchWriter::write(const Columns& columns, int64_t rows, bool is_last) {
  try {
    STROM_ASSIGN(const auto batch, format::arrow::encode_batch(columns, rows, compressor_));
    const format::arrow::Statistics statistics(appender_.statistics_columns());
    return appender_.write(batch, statistics.of(columns), is_last);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while writing file \"" + appender_.path() + "\"");
  }
}

void BatchWriter::start(Columns& columns, int64_t rows) {
  if (columns_.empty())
    for (const ColumnBuilder& column : columns) columns_.emplace_back(column.field());
  columns_.swap(columns);
  done_ = false;
  const auto run = [this, rows] {
    Status outcome = base::prepare_for_exceptions()
                         ? write(columns_, rows, false)
                         : Status(ErrorCode::kOutOfMemory, "out of memory while a record batch was written");
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    done_ = true;
    done_changed_.notify_all();
  };
  const base::BlockedSignals blocked;
  try {
    thread_ = std::thread(run);
  } catch (const std::system_error&) {  // the system has no more threads
    run();
    join();
  }
}

Status BatchWriter::wait(const std::function<void()>& idle) {
  if (thread_.joinable()) {
    std::unique_lock lock(mutex_);
    while (!done_changed_.wait_for(lock, kPollInterval, [this] { return done_; })) {
      lock.unlock();
      idle();
      lock.lock();
    }
  }
  join();
  return failed_ ? outcome_ : Status::ok();
}

void BatchWriter::join() {
  if (thread_.joinable()) thread_.join();
  if (!std::exchange(done_, false)) return;
  failed_ = !outcome_.is_ok();
  if (!failed_) clear(columns_);
}

void BatchWriter::take_back(Columns& columns) {
  columns_.swap(columns);
  clear(columns_);
  failed_ = false;
}

}  // namespace strom::pg::files
