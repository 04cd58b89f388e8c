// See export.hpp.
#include "arrow2csv/export.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "arrow_files/sql_table.hpp"
#include "arrow_files/workers.hpp"

namespace strom::tool {

using columnar::Field;
using format::csv::RowText;
using format::csv::TextBuffer;

namespace {

constexpr int64_t kPieceBytes =
    1 << 20;  // of the columns' buffers: a piece's text stays in the cache until it is written
constexpr int64_t kLeastPieceRows = 64, kMostPieceRows = 65'536;

/// Pieces are finished in any order and written in that of their numbers.
class OrderedSink {
 public:
  explicit OrderedSink(format::ByteSink& sink) : sink_(sink) {}

  /// Waits for its turn. kCancelled when an earlier piece failed, which is what run_pieces() will report.
  Status write(int64_t piece, const TextBuffer& text) {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return next_ == piece || piece > failed_; });
    if (piece > failed_) return Status(ErrorCode::kCancelled, "stopped");
    lock.unlock();  // nobody else has this turn
    Status status = text.size() == 0
                        ? Status::ok()
                        : sink_.append({{const_cast<char*>(text.data()), static_cast<size_t>(text.size())}});
    lock.lock();
    ++next_;
    if (!status.is_ok()) failed_ = std::min(failed_, piece);
    turn_.notify_all();
    return status;
  }

  /// There is no text for this piece. Those before it are still written.
  void fail(int64_t piece) {
    std::lock_guard lock(mutex_);
    failed_ = std::min(failed_, piece);
    turn_.notify_all();
  }

 private:
  format::ByteSink& sink_;
  std::mutex mutex_;
  std::condition_variable turn_;
  int64_t next_ = 0;
  int64_t failed_ = std::numeric_limits<int64_t>::max();  // the first piece that failed
};

Status in_batch(const Status& status, const std::string& path, int batch) {
  return Status(status.code(), "file \"" + path + "\", record batch " + std::to_string(batch) + ": " + status.message())
      .with_detail(status.detail())
      .with_hint(status.hint());
}

}  // namespace

Result<Export> Export::plan(std::vector<ArrowFile> files, const ExportOptions& options) {
  Export out(options);
  for (ArrowFile& file : files) STROM_TRY(out.add_file(std::move(file)));
  STROM_TRY(out.make_texts());
  STROM_TRY(out.cut_pieces());
  return out;
}

/// Bytes of one file are bytes in all of them.
Status Export::make_texts() {
  constexpr const char* kType = "pg_type";
  const auto bytes = std::pair<std::string, std::string>(kType, "pg_catalog.bytea");
  for (size_t i = 0; options_.is_script && i < files_.front().fields.size(); ++i) {
    const auto has_bytes = [&](const File& file) {
      const auto& metadata = file.fields[i].metadata;
      return std::find(metadata.begin(), metadata.end(), bytes) != metadata.end();
    };
    if (std::none_of(files_.begin(), files_.end(), has_bytes)) continue;
    for (File& file : files_)
      for (auto& [key, value] : file.fields[i].metadata)
        if (key == kType && value == "pg_catalog.bpchar") value = bytes.second;
  }
  for (File& file : files_) {
    STROM_ASSIGN(file.text, RowText::create(file.fields, options_.text));
  }
  return Status::ok();
}

Status Export::add_file(ArrowFile reader) {
  File file;
  STROM_ASSIGN(file.columns, find_columns(*reader, options_.columns));
  std::vector<Field> fields = reader->schema().fields;
  if (options_.is_script) {
    STROM_ASSIGN(fields, with_binary_types(*reader));
  }
  for (const int column : file.columns) file.fields.push_back(fields[static_cast<size_t>(column)]);
  for (const Field& field : file.fields) {
    if (field.unsupported.empty()) continue;
    return Status(ErrorCode::kUnsupported, "column \"" + field.name + "\" of file \"" + reader->path() + "\" uses " +
                                               field.unsupported + ", which cannot be read")
        .with_hint("--columns chooses other columns.");
  }
  file.reader = std::move(reader);
  if (!files_.empty()) STROM_TRY(check_same_columns(file));
  files_.push_back(std::move(file));
  return Status::ok();
}

Status Export::check_same_columns(const File& file) const {
  const File& first = files_.front();
  for (size_t i = 0; i < std::max(file.fields.size(), first.fields.size()); ++i) {
    if (i < file.fields.size() && i < first.fields.size() && file.fields[i].name == first.fields[i].name) continue;
    return Status(ErrorCode::kTypeMismatch,
                  "file \"" + file.reader->path() + "\" has other columns than file \"" + first.reader->path() + "\"")
        .with_detail("They differ in column " + std::to_string(i + 1) + ".")
        .with_hint("--columns chooses columns that all files have.");
  }
  return Status::ok();
}

Result<int64_t> Export::rows_per_piece(const File& file, int batch, int64_t rows) const {
  int64_t bytes = 0;
  for (const int column : file.columns) {
    STROM_ASSIGN(const int64_t more, file.reader->column_bytes(batch, column));
    bytes += more;
  }
  const int64_t bytes_per_row = std::max<int64_t>(1, bytes / std::max<int64_t>(1, rows));
  return std::clamp(kPieceBytes / bytes_per_row, kLeastPieceRows, kMostPieceRows);
}

Status Export::cut_pieces() {
  int64_t skip = options_.offset, left = options_.limit;
  for (size_t i = 0; i < files_.size(); ++i) {
    for (int number = 0; number < files_[i].reader->batch_count() && left > 0; ++number) {
      STROM_ASSIGN(const int64_t rows, files_[i].reader->batch_rows(number));
      int64_t row = std::min(skip, rows);
      skip -= row;
      const int64_t end = row + std::min(left, rows - row);
      left -= end - row;
      STROM_ASSIGN(const int64_t step, rows_per_piece(files_[i], number, rows));
      Batch& batch = *batches_.emplace_back(std::make_unique<Batch>());
      batch.file = static_cast<int>(i);
      batch.number = number;
      batch.rows = rows;
      for (; row < end; row += step, ++batch.pieces) pieces_.push_back({&batch, row, std::min(row + step, end)});
    }
  }
  return Status::ok();
}

Result<columnar::BatchView> Export::load(Batch& batch) const {
  const File& file = files_[static_cast<size_t>(batch.file)];
  std::lock_guard lock(batch.mutex);
  if (batch.columns.empty()) {
    std::vector<FileColumn> columns;
    for (const int column : file.columns) {
      STROM_ASSIGN(columns.emplace_back(), file.reader->column(batch.number, column));
    }
    batch.columns = std::move(columns);
  }
  columnar::BatchView view;
  view.rows = batch.rows;
  view.columns.assign(batch.columns.begin(), batch.columns.end());
  return view;
}

void Export::finish(Batch& batch) {
  std::lock_guard lock(batch.mutex);
  if (--batch.pieces == 0) batch.columns = {};
}

Status Export::make_text(const Piece& piece, TextBuffer& out) const {
  const File& file = files_[static_cast<size_t>(piece.batch->file)];
  STROM_ASSIGN(const columnar::BatchView batch, load(*piece.batch));
  const Status status = file.text->append_rows(batch, piece.begin, piece.end, out);
  finish(*piece.batch);
  // What was read from a part of the file that is gone means nothing.
  if (file.reader->is_poisoned()) return file.reader->check_unchanged();
  return status.is_ok() ? status : in_batch(status, file.reader->path(), piece.batch->number);
}

Status Export::write(format::ByteSink& sink, Progress& progress) const {
  int64_t rows = 0;
  for (const Piece& piece : pieces_) rows += piece.end - piece.begin;
  progress.add_total(rows);
  const std::string& header = files_.front().text->header();
  if (!header.empty() && options_.header) STROM_TRY(sink.append({{const_cast<char*>(header.data()), header.size()}}));

  OrderedSink ordered(sink);
  std::vector<TextBuffer> buffers(static_cast<size_t>(options_.threads));
  STROM_TRY(run_pieces(static_cast<int64_t>(pieces_.size()), options_.threads, [&](int64_t number, int thread) {
    const Piece& piece = pieces_[static_cast<size_t>(number)];
    TextBuffer& text = buffers[static_cast<size_t>(thread)];
    text.clear();
    Status status = make_text(piece, text);
    if (status.is_ok()) {
      status = ordered.write(number, text);
    } else {
      ordered.fail(number);
    }
    if (status.is_ok()) {
      progress.add(piece.end - piece.begin, text.size());
      progress.add_done(piece.end - piece.begin);
    }
    return status;
  }));
  for (const File& file : files_) STROM_TRY(file.reader->check_unchanged());
  return Status::ok();
}

}  // namespace strom::tool
