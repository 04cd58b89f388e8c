// See pending_write.hpp.
#include "pg/files/pending_write.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include "format/arrow/write/writer.hpp"
#include "format/staged_file.hpp"
#include "format/temporary_name.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/files/file_lock.hpp"

namespace strom::pg::files {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;
using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Schema;
using format::arrow::FileAppender;
using format::arrow::FileReader;

namespace {

std::vector<ColumnBuilder> builders_of(const Schema& schema) {
  std::vector<ColumnBuilder> columns;
  for (const Field& field : schema.fields) columns.emplace_back(field);
  return columns;
}

}  // namespace

bool PendingWrite::Position::is_before(const Position& other) const {
  return std::tie(batches.generation, batches.batches, rows) <
         std::tie(other.batches.generation, other.batches.batches, other.rows);
}

void PendingWrite::open(const catalog::ForeignTable& table) {
  level_ = guard([] { return GetCurrentTransactionNestLevel(); });
  format::remove_stale_temporaries(format::folder_of(path_));  // before locking: locks mark the files of others
  create(table);
  format::arrow::AppendOptions append;
  append.sync = enableFsync;
  appender_ = value_or_throw(FileAppender::open(path_, lock_file(path_), append));
  first_ = position();
}

PendingWrite::~PendingWrite() {
  writer_.reset();
  if (is_done_ || appender_ == nullptr) return;
  if (is_changed_) appender_->undo();
  // Nobody else can have written to the file: this transaction still holds the lock.
  if (is_created_) unlink(path_.c_str());
}

/// Makes the file of a new table; the file has no rows.
void PendingWrite::create(const catalog::ForeignTable& table) {
  struct stat info;
  if (stat(path_.c_str(), &info) == 0 || errno != ENOENT) return;
  Schema schema = schema_for(table, {});
  auto file = format::StagedFile::create(path_, false);
  throw_if_failed(file.status());
  auto writer = value_or_throw(format::arrow::FileWriter::create(std::move(file).value(), std::move(schema), false));
  const Status made = writer->finish();
  is_created_ = made.is_ok();
  if (!made.is_ok() && stat(path_.c_str(), &info) != 0) throw_if_failed(made);  // else another process was faster
}

void PendingWrite::take_options(const TableOptions& options) {
  if (writer_ == nullptr || options.compression != options_.compression) {
    const auto compression = value_or_throw(format::arrow::parse_compression(options.compression));
    writer_.reset();
    compressor_ = std::make_unique<format::arrow::Compressor>(compression);
    writer_ = std::make_unique<BatchWriter>(*appender_, *compressor_);
  }
  options_ = options;
}

void PendingWrite::fit_to(const catalog::ForeignTable& table, const TableOptions& options, uint64_t catalog_state) {
  settle_batch();
  take_options(options);
  if (binding_ == nullptr || binding_->signature != binding_signature(table)) {
    note_level();
    flush(false);
    const auto dictionary_of = [this](const Field& field) {
      return value_or_throw(appender_->dictionary(field)).get();
    };
    std::shared_ptr<Binding> fresh;
    try {
      fresh = make_binding(table, appender_->schema(), path_, appender_->mark().batches > 0, dictionary_of);
    } catch (const boundary::StatusError& error) {
      // A file without rows may be given any fields, so a mismatch is no error.
      if (error.status().code() != ErrorCode::kTypeMismatch || appender_->mark().batches > 0) throw;
      Schema schema = schema_for(table, appender_->schema());
      fresh = make_binding(table, schema, path_, true, {});
      appender_->clear(std::move(schema));
      commands_.clear();
    }
    use(std::move(fresh), table);
  }
  catalog_state_ = catalog_state;
}

void PendingWrite::truncate(const catalog::ForeignTable& table, const TableOptions& options, uint64_t catalog_state) {
  settle_batch();
  take_options(options);
  Schema schema = schema_for(table, appender_->schema());
  std::shared_ptr<Binding> fresh = make_binding(table, schema, path_, true, {});
  note_level();
  flush(false);
  appender_->clear(std::move(schema));
  commands_.clear();
  is_changed_ = true;
  reader_.reset();
  use(std::move(fresh), table);
  catalog_state_ = catalog_state;
}

/// Later rows go to the file by `binding`. The previous binding holds no rows any more.
void PendingWrite::use(std::shared_ptr<Binding> binding, const catalog::ForeignTable& table) {
  require_readable(table, *value_or_throw(FileReader::open_pending(path_, value_or_throw(appender_->footer()))));
  binding_ = std::move(binding);
  if (!options_.statistics) return;
  std::vector<size_t> columns;
  const auto& fields = appender_->schema().fields;
  for (size_t i = 0; i < fields.size(); ++i)
    if (format::arrow::can_have_bounds(fields[i])) columns.push_back(i);
  appender_->add_statistics(columns);
}

bool PendingWrite::is_full() const {
  return rows().bytes() >= options_.batch_bytes || rows().rows() >= options_.batch_rows;
}

void PendingWrite::note_level() {
  const int level = GetCurrentTransactionNestLevel();
  const int known = marks_.empty() ? level_ : marks_.back().level;
  if (level <= known) return;
  settle_batch();
  marks_.push_back({level, position(), binding_});
}

/// Records where the rows of a command begin. Commands nest, so a snapshot sees a prefix of the transaction's own rows:
/// those before the first row of a command that it does not see.
void PendingWrite::note_command(CommandId command) {
  constexpr size_t kMostCommands = 1 << 17;  // beyond this, only the later commands are told apart
  if (!commands_.empty() && command <= commands_.back().command) return;
  settle_batch();
  if (commands_.size() >= kMostCommands) commands_.erase(commands_.begin(), commands_.begin() + kMostCommands / 2);
  commands_.push_back({command, position()});
}

void PendingWrite::note_rows() {
  is_changed_ = true;
  if (reader_ != nullptr) reader_.reset();
}

void PendingWrite::add(TupleTableSlot* slot, CommandId command) {
  note_level();
  note_command(command);
  slot_getallattrs(slot);
  rows().append(slot->tts_values, slot->tts_isnull);
  note_rows();
  if (is_full()) start_batch();
}

void PendingWrite::add(const codec::RegisterColumn* columns, int64_t rows, CommandId command) {
  constexpr int64_t kRowsBetweenLooks = 4096;
  note_level();
  note_command(command);
  for (int64_t first = 0; first < rows;) {
    const int64_t count = std::min({rows - first, options_.batch_rows - this->rows().rows(), kRowsBetweenLooks});
    this->rows().append(columns, first, count);
    first += count;
    note_rows();
    if (is_full()) start_batch();
  }
}

/// Starts to write a full batch, while rows of the next one are collected.
void PendingWrite::start_batch() {
  settle_batch();
  writer_->start(rows().columns(), rows().rows());
  rows().cut(0);
}

/// Waits until the batch in progress is part of the file, as far as this transaction is concerned.
void PendingWrite::settle_batch() {
  if (writer_ == nullptr) return;
  Status written = writer_->wait(boundary::check_for_interrupts);
  if (written.is_ok()) return;
  broken_ = written;  // until cut() goes back to a savepoint
  throw_if_failed(written);
}

void PendingWrite::write(const std::vector<ColumnBuilder>& columns, int64_t rows, bool is_last) {
  throw_if_failed(writer_->write(columns, rows, is_last));
}

void PendingWrite::flush(bool is_last) {
  settle_batch();
  if (binding_ == nullptr || rows().rows() == 0) return;
  if (!is_last || !merge_small()) write(rows().columns(), rows().rows(), is_last);
  rows().cut(0);
}

/// Merges the last batches of the file with the remaining rows. False: nothing was merged.
bool PendingWrite::merge_small() {
  const FileAppender::Mark mark = appender_->mark();
  const size_t count = appender_->small_batches(rows().bytes(), options_.batch_bytes / 2);
  if (count == 0) return false;
  std::vector<ColumnBuilder> merged = builders_of(appender_->schema());
  for (size_t i = mark.batches - count; i < mark.batches; ++i)
    if (!appender_->read(mark, i, merged).is_ok()) return false;
  if (!format::arrow::append_rows(rows().columns(), merged)) return false;
  const int64_t merged_rows = merged.empty() ? 0 : merged[0].length();
  if (merged_rows > options_.batch_rows) return false;
  appender_->cut({mark.generation, mark.batches - count});
  write(merged, merged_rows, true);
  return true;
}

std::shared_ptr<const FileReader> PendingWrite::reader(CommandId command) {
  throw_if_failed(broken_);
  if (!is_changed_) return nullptr;
  const auto start = std::find_if(commands_.begin(), commands_.end(),
                                  [command](const CommandStart& one) { return one.command >= command; });
  if (start != commands_.end()) return reader_at(start->position);
  flush(false);
  if (reader_ == nullptr)
    reader_ = value_or_throw(FileReader::open_pending(path_, value_or_throw(appender_->footer())));
  return reader_;
}

/// A reader of the rows before `position`. Later rows exist.
std::shared_ptr<const FileReader> PendingWrite::reader_at(const Position& position) {
  if (position == first_) return nullptr;
  if (earlier_reader_ != nullptr && earlier_ == position) return earlier_reader_;
  flush(false);
  const FileAppender::Mark all = appender_->mark();
  if (position.rows > 0) {  // the first rows of a batch become a batch of their own, which only this reader has
    std::vector<ColumnBuilder> some = builders_of(appender_->schema());
    throw_if_failed(appender_->read(position.batches, position.batches.batches, some));
    for (ColumnBuilder& column : some) column.truncate(position.rows);
    write(some, position.rows, false);
  }
  std::string footer = value_or_throw(appender_->footer(position.batches.batches, position.rows > 0));
  appender_->cut(all);
  earlier_reader_ = value_or_throw(FileReader::open_pending(path_, std::move(footer)));
  earlier_ = position;
  return earlier_reader_;
}

void PendingWrite::cut(const Mark& mark) {
  reader_.reset();
  earlier_reader_.reset();
  std::erase_if(commands_, [&mark](const CommandStart& one) { return !one.position.is_before(mark.position); });
  if (writer_ == nullptr) return;
  writer_->settle();
  if (writer_->has_failed()) {  // the failed batch has the rows that the mark counts, and later ones
    writer_->take_back(rows().columns());
    broken_ = Status::ok();
  }
  const auto& [batches, count] = mark.position;
  if (binding_ != mark.binding || !(appender_->mark() == batches)) {
    if (binding_ != nullptr) rows().cut(0);
    binding_ = mark.binding;
    if (count > 0) {  // these rows were written as part of a larger batch
      throw_if_failed(appender_->read(batches, batches.batches, rows().columns()));
    }
    appender_->cut(batches);
  }
  if (binding_ != nullptr) rows().cut(count);
}

void PendingWrite::end_level(int level, bool is_commit) {
  if (is_commit) {
    if (level_ >= level) level_ = level - 1;
    if (marks_.empty() || marks_.back().level < level) return;
    const int below = marks_.size() > 1 ? marks_[marks_.size() - 2].level : level_;
    if (below >= level - 1)
      marks_.pop_back();
    else
      marks_.back().level = level - 1;
    return;
  }
  while (!marks_.empty() && marks_.back().level >= level) {
    const Mark mark = marks_.back();
    marks_.pop_back();
    cut(mark);
  }
}

void PendingWrite::prepare() {
  throw_if_failed(broken_);
  settle_batch();
  marks_.clear();
  reader_.reset();
  earlier_reader_.reset();
  is_changed_ = is_changed_ && !(position() == first_);
  if (!is_changed_) return;
  flush(true);
  throw_if_failed(appender_->prepare());
}

void PendingWrite::commit() {
  if (is_changed_) throw_if_failed(appender_->commit());
}

void PendingWrite::settle() {
  if (is_changed_) appender_->settle();
  is_done_ = true;
}

}  // namespace strom::pg::files
