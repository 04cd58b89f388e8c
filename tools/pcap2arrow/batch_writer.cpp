// See batch_writer.hpp.
#include "pcap2arrow/batch_writer.hpp"

#include <new>
#include <utility>

#include "pcap2arrow/row_maker.hpp"

namespace strom::pcap2arrow {

int64_t Batch::memory() const {
  int64_t bytes = 0;
  for (const auto& column : columns) bytes += column.memory_bytes();
  return bytes;
}

BatchWriter::BatchWriter(const Settings& settings, CaptureOutput& output, int64_t writer,
                         const std::vector<columnar::Field>& fields, tool::Progress& progress,
                         std::function<void()> failed)
    : settings_(settings), output_(output), writer_(writer), progress_(progress), failed_(std::move(failed)) {
  constexpr int kBatches = 2;
  for (int i = 0; i < kBatches; ++i) {
    auto batch = std::make_unique<Batch>();
    batch->columns = make_columns(fields);
    empty_.push_back(std::move(batch));
  }
  thread_ = std::thread([this] { run(); });
}

BatchWriter::~BatchWriter() {
  if (thread_.joinable()) (void)finish();
}

std::unique_ptr<Batch> BatchWriter::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !empty_.empty(); });
  auto batch = std::move(empty_.front());
  empty_.pop_front();
  return batch;
}

void BatchWriter::give(std::unique_ptr<Batch> batch) {
  {
    std::lock_guard lock(mutex_);
    full_.push_back(std::move(batch));
  }
  changed_.notify_all();
}

Status BatchWriter::finish() {
  {
    std::lock_guard lock(mutex_);
    is_end_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  return status_;
}

Status BatchWriter::write(Batch& batch, format::arrow::Compressor& compressor) {
  const int64_t rows = batch.facts.rows;
  if (rows > 0) {
    STROM_ASSIGN(const auto encoded, format::arrow::encode_batch(batch.columns, rows, compressor));
    batch.facts.bounds = output_.bounds_of(batch.columns);
    STROM_TRY(output_.write(encoded, std::move(batch.facts)));
    progress_.add(rows, encoded.bytes());
  } else {
    output_.add_counts(batch.facts.counts);
  }
  return output_.begin_window(writer_, batch.next_window);
}

/// After a failure batches are taken and thrown away, so that nobody waits for them.
void BatchWriter::run() {
  format::arrow::Compressor compressor(settings_.output.compression);
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !full_.empty() || is_end_; });
    if (full_.empty()) return;
    auto batch = std::move(full_.front());
    full_.pop_front();
    const bool works = status_.is_ok();
    lock.unlock();
    const int64_t rows = batch->facts.rows;
    Status status = Status::ok();
    if (works) {
      try {
        status = write(*batch, compressor);
      } catch (const std::bad_alloc&) {
        status = Status(ErrorCode::kOutOfMemory, "out of memory");
      }
    }
    for (auto& column : batch->columns) column.clear();
    batch->facts = {};
    batch->next_window = INT64_MIN;
    if (!works || !status.is_ok()) output_.add_lost(rows);
    if (!status.is_ok()) failed_();
    lock.lock();
    if (works) status_ = std::move(status);
    empty_.push_back(std::move(batch));
    lock.unlock();
    changed_.notify_all();
  }
}

}  // namespace strom::pcap2arrow
