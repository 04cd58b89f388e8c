// See pending.hpp.
#include "pg/fdw_arrow/pending.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <vector>

#include "base/os_error.hpp"
#include "format/arrow/file_appender.hpp"
#include "format/staged_file.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/column_writer.hpp"
#include "pg/fdw_arrow/batch_writer.hpp"
#include "pg/fdw_arrow/field_index.hpp"
#include "pg/fdw_arrow/options.hpp"

namespace strom::pg::fdw_arrow {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;
using columnar::NestedBuilder;
using columnar::NestedField;
using columnar::NestedSchema;
using format::AppendLock;
using format::arrow::FileAppender;

/// One table, from its first row in a transaction to the transaction's end.
class PendingWrite {
 public:
  PendingWrite(Oid relid, TableOptions options, std::string path)
      : relid_(relid),
        options_(std::move(options)),
        path_(std::move(path)),
        compressor_(value_or_throw(format::arrow::parse_compression(options_.compression))) {}

  Oid relid() const { return relid_; }
  const std::string& path() const { return path_; }
  const std::string& named_path() const { return options_.files.front(); }
  int level() const { return level_; }
  bool is_broken() const { return !broken_.is_ok(); }
  void fail(Status status) { broken_ = std::move(status); }

  void open(const catalog::ForeignTable& table);
  void add(TupleTableSlot* slot);
  void add(const codec::RegisterColumn* columns, int64_t rows);
  void clear();
  std::shared_ptr<const format::arrow::FileReader> reader();

  /// The end of the subtransaction at `level`.
  void end_level(int level, bool is_commit);
  void prepare();
  void commit() {
    if (is_changed_) throw_if_failed(appender_->commit());
  }
  void settle() {
    if (is_changed_) appender_->settle();
    is_done_ = true;
  }
  ~PendingWrite();

 private:
  /// What there was before the first row of a subtransaction.
  struct Mark {
    int level;
    FileAppender::Mark batches;
    int64_t rows;  // that were not in a batch yet
  };

  void lock();
  void create(const catalog::ForeignTable& table);
  void bind(const catalog::ForeignTable& table);
  void note_level();
  void note_rows();
  bool is_full() const { return rows_->bytes() >= options_.batch_bytes || rows_->rows() >= options_.batch_rows; }
  void start_batch();
  void flush(bool is_last);
  void settle_batch();
  void write(const std::vector<NestedBuilder>& columns, int64_t rows, bool is_last) {
    throw_if_failed(writer_->write(columns, rows, is_last));
  }
  bool merge_small();
  void cut(const Mark& mark);

  Oid relid_;
  TableOptions options_;
  std::string path_;  // where the option's leads to
  format::arrow::Compressor compressor_;
  std::unique_ptr<AppendLock> lock_;
  std::unique_ptr<FileAppender> appender_;
  std::unique_ptr<codec::RowWriter> rows_;
  std::unique_ptr<BatchWriter> writer_;  // refers to all of the above
  FileAppender::Mark first_;
  std::vector<Mark> marks_;
  int level_ = 1;  // of the transaction that opened it
  std::shared_ptr<const format::arrow::FileReader> reader_;
  Status broken_;
  bool is_created_ = false, is_changed_ = false, is_done_ = false;
};

namespace {

/// Of this transaction.
std::vector<std::unique_ptr<PendingWrite>>& writes() {
  static auto* list = new std::vector<std::unique_ptr<PendingWrite>>();
  return *list;
}

PendingWrite* find_write(Oid relid) {
  for (const auto& write : writes())
    if (write->relid() == relid) return write.get();
  return nullptr;
}

/// The file behind symbolic links, which stay when a file is rewritten.
std::string resolve(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

void on_transaction(XactEvent event, void*) {
  if (writes().empty()) return;
  switch (event) {
    case XACT_EVENT_PRE_COMMIT:
      boundary::entry([] {
        for (const auto& write : writes()) write->prepare();
        for (const auto& write : writes()) write->commit();
      });
      break;
    case XACT_EVENT_COMMIT:
      for (const auto& write : writes()) write->settle();
      writes().clear();
      break;
    case XACT_EVENT_ABORT: writes().clear(); break;
    case XACT_EVENT_PRE_PREPARE:
      ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                      errmsg("cannot PREPARE a transaction that has written to Arrow foreign tables")));
      break;
    default: break;
  }
}

void on_subtransaction(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
  if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB) return;
  const int level = GetCurrentTransactionNestLevel();
  const bool is_commit = event == SUBXACT_EVENT_COMMIT_SUB;
  auto& list = writes();
  if (!is_commit) std::erase_if(list, [level](const auto& write) { return write->level() >= level; });
  for (const auto& write : list) {
    try {
      write->end_level(level, is_commit);
    } catch (const boundary::StatusError& error) {
      write->fail(error.status());
    } catch (...) {
      write->fail(Status(ErrorCode::kOutOfMemory, "out of memory while rows were taken back"));
    }
  }
}

/// Name of the field that a column is written to.
std::string field_of(const catalog::ForeignColumn& column) {
  ColumnSource source = value_or_throw(column_source(column));
  if (source.kind != ColumnSource::Kind::kField)
    throw_if_failed(
        Status(ErrorCode::kUnsupported, "a table with virtual column \"" + column.name + "\" cannot be written to"));
  return std::move(source.name);
}

void register_callbacks() {
  static bool registered = false;
  if (registered) return;
  guard([] {
    RegisterXactCallback(on_transaction, nullptr);
    RegisterSubXactCallback(on_subtransaction, nullptr);
  });
  registered = true;
}

void require_owner_privilege(Oid relid) {
  const bool allowed = guard([relid] {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
    const Oid owner =
        HeapTupleIsValid(tuple) ? reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner : InvalidOid;
    if (HeapTupleIsValid(tuple)) ReleaseSysCache(tuple);
    return OidIsValid(owner) && has_privs_of_role(owner, ROLE_PG_WRITE_SERVER_FILES);
  });
  if (allowed) return;
  throw_if_failed(Status(ErrorCode::kPermissionDenied, "permission denied to write Arrow files of the server")
                      .with_hint("The table's owner needs the privileges of the role \"pg_write_server_files\"."));
}

void refuse_same_file(const std::string& path, Oid relid) {
  struct stat mine, theirs;
  if (stat(path.c_str(), &mine) != 0) return;
  for (const auto& write : writes()) {
    if (write->relid() == relid || stat(write->path().c_str(), &theirs) != 0) continue;
    if (mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino)
      throw_if_failed(
          Status(ErrorCode::kUnsupported, "file \"" + path + "\" is already being written to by this transaction")
              .with_detail("Another foreign table leads to the same file."));
  }
}

}  // namespace

PendingWrite* begin_write(Oid relid) {
  register_callbacks();
  guard([relid] {
    // Among ourselves: the statement's own lock on the table is one that others have at the same time.
    LockDatabaseObject(ForeignTableRelationId, relid, 0, ShareRowExclusiveLock);
    ResetPlanCache();  // plans with parallel workers, which would not see the rows
  });
  if (PendingWrite* known = find_write(relid)) {
    if (known->is_broken()) throw_if_failed(Status(ErrorCode::kInternal, "rows of this transaction were lost"));
    return known;
  }
  const catalog::ForeignTable table = catalog::load_foreign_table(relid, catalog::live_columns(relid));
  TableOptions options = value_or_throw(parse_table_options(table.options));
  if (!options.writable) {
    throw_if_failed(Status(ErrorCode::kUnsupported, "foreign table \"" + table.name + "\" is not writable")
                        .with_hint("Set the option \"writable\" of a table that has the option \"file\"."));
  }
  require_owner_privilege(relid);
  std::string path = resolve(options.files.front());
  refuse_same_file(path, relid);
  auto write = std::make_unique<PendingWrite>(relid, std::move(options), std::move(path));
  write->open(table);
  writes().push_back(std::move(write));
  return writes().back().get();
}

void write_row(PendingWrite* write, TupleTableSlot* slot) { write->add(slot); }

void write_columns(PendingWrite* write, const codec::RegisterColumn* columns, int64_t rows) {
  write->add(columns, rows);
}

void truncate_table(Oid relid) { begin_write(relid)->clear(); }

bool has_pending_rows(Oid relid) { return find_write(relid) != nullptr; }

std::shared_ptr<const format::arrow::FileReader> pending_reader(Oid relid, const std::string& path) {
  PendingWrite* write = find_write(relid);
  return write == nullptr || write->named_path() != path ? nullptr : write->reader();
}

void PendingWrite::open(const catalog::ForeignTable& table) {
  level_ = guard([] { return GetCurrentTransactionNestLevel(); });
  create(table);
  lock();
  format::arrow::AppendOptions append;
  append.sync = enableFsync;
  appender_ = value_or_throw(FileAppender::open(path_, std::move(lock_), append));
  writer_ = std::make_unique<BatchWriter>(*appender_, compressor_);
  first_ = appender_->mark();
  bind(table);
}

PendingWrite::~PendingWrite() {
  writer_.reset();
  if (is_done_ || appender_ == nullptr) return;
  if (is_changed_) appender_->undo();
  // Nobody else has written to it: the lock is still held.
  if (is_created_) unlink(path_.c_str());
}

/// A new table has no file, which then is one without rows.
void PendingWrite::create(const catalog::ForeignTable& table) {
  struct stat info;
  if (stat(path_.c_str(), &info) == 0 || errno != ENOENT) return;
  codec::WriteSettings settings;
  settings.enum_as_dictionary = false;
  settings.numeric_needs_precision = true;
  codec::RowWriter columns(settings);
  for (const catalog::ForeignColumn& column : table.columns)
    columns.add_column(field_of(column), {column.type.oid, column.type.typmod}, 0);
  NestedSchema schema;
  schema.fields = columns.fields();
  auto file = format::StagedFile::create(path_, false);
  throw_if_failed(file.status());
  auto writer = value_or_throw(format::arrow::NestedWriter::create(std::move(file).value(), std::move(schema), false));
  const Status made = writer->finish();
  is_created_ = made.is_ok();
  if (!made.is_ok() && stat(path_.c_str(), &info) != 0) throw_if_failed(made);  // else somebody else was faster
}

/// Other databases and programs do not see PostgreSQL's lock.
void PendingWrite::lock() {
  constexpr int kMicros = 10'000;
  for (int64_t waited = 0;; waited += kMicros) {
    lock_ = value_or_throw(AppendLock::try_take(path_));
    if (lock_ != nullptr) return;
    boundary::check_for_interrupts();
    if (LockTimeout > 0 && waited / 1000 >= LockTimeout)
      throw_if_failed(Status(ErrorCode::kOverBudget, "file \"" + path_ + "\" is being written to by another process"));
    guard([] { pg_usleep(kMicros); });
  }
}

void PendingWrite::bind(const catalog::ForeignTable& table) {
  codec::WriteSettings settings;
  settings.enum_as_dictionary = false;
  rows_ = std::make_unique<codec::RowWriter>(settings);
  const NestedSchema& schema = appender_->schema();
  columnar::Schema names;  // for the index
  for (const NestedField& field : schema.fields) names.fields.emplace_back().name = field.name;
  const FieldIndex index_of(names);
  std::vector<const catalog::ForeignColumn*> sources(schema.fields.size());
  for (const catalog::ForeignColumn& column : table.columns) {
    const std::string wanted = field_of(column);
    const int index = index_of.find(wanted);
    const auto refuse = [&](const std::string& what) {
      throw_if_failed(Status(ErrorCode::kTypeMismatch, what)
                          .with_detail("It is to be written by column \"" + column.name + "\" of foreign table \"" +
                                       table.name + "\"."));
    };
    if (index < 0) refuse("field \"" + wanted + "\" was not found in file \"" + path_ + "\"");
    if (sources[static_cast<size_t>(index)] != nullptr)
      refuse("field \"" + wanted + "\" of file \"" + path_ + "\" belongs to two columns");
    sources[static_cast<size_t>(index)] = &column;
  }
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const NestedField& field = schema.fields[i];
    if (sources[i] != nullptr) {
      rows_->add_column(field, sources[i]->name, sources[i]->type, sources[i]->attnum - 1);
      continue;
    }
    if (!field.nullable || field.kind == columnar::Kind::kOther)
      throw_if_failed(Status(ErrorCode::kTypeMismatch, "field \"" + field.name + "\" of file \"" + path_ +
                                                           "\" cannot be NULL, and no column writes it"));
    rows_->add_nulls(field);
  }
  rows_->start();
  if (!options_.statistics) return;
  std::vector<size_t> columns;
  for (size_t i = 0; i < schema.fields.size(); ++i)
    if (format::arrow::can_have_bounds(schema.fields[i])) columns.push_back(i);
  appender_->add_statistics(columns);
}

void PendingWrite::note_level() {
  const int level = GetCurrentTransactionNestLevel();
  const int known = marks_.empty() ? level_ : marks_.back().level;
  if (level <= known) return;
  settle_batch();
  marks_.push_back({level, appender_->mark(), rows_->rows()});
}

void PendingWrite::note_rows() {
  is_changed_ = true;
  if (reader_ != nullptr) reader_.reset();
}

void PendingWrite::add(TupleTableSlot* slot) {
  note_level();
  slot_getallattrs(slot);
  rows_->append(slot->tts_values, slot->tts_isnull);
  note_rows();
  if (is_full()) start_batch();
}

void PendingWrite::add(const codec::RegisterColumn* columns, int64_t rows) {
  constexpr int64_t kRowsBetweenLooks = 4096;
  note_level();
  for (int64_t first = 0; first < rows;) {
    const int64_t count = std::min({rows - first, options_.batch_rows - rows_->rows(), kRowsBetweenLooks});
    rows_->append(columns, first, count);
    first += count;
    note_rows();
    if (is_full()) start_batch();
  }
}

void PendingWrite::clear() {
  note_level();
  flush(false);
  appender_->clear();
  is_changed_ = true;
  reader_.reset();
}

/// A full batch, which is written while rows of the next one come.
void PendingWrite::start_batch() {
  settle_batch();
  writer_->start(rows_->columns(), rows_->rows());
  rows_->cut(0);
}

/// The batch that is being written is part of the file, as far as this transaction is concerned.
void PendingWrite::settle_batch() {
  Status written = writer_->wait(boundary::check_for_interrupts);
  if (written.is_ok()) return;
  broken_ = written;  // until there is a savepoint that cut() goes back to
  throw_if_failed(written);
}

void PendingWrite::flush(bool is_last) {
  settle_batch();
  if (rows_->rows() == 0) return;
  if (!is_last || !merge_small()) write(rows_->columns(), rows_->rows(), is_last);
  rows_->cut(0);
}

/// The last batches of the file together with the rows that are left; false: they stay as they are.
bool PendingWrite::merge_small() {
  const FileAppender::Mark mark = appender_->mark();
  const size_t count = appender_->small_batches(rows_->bytes(), options_.batch_bytes / 2);
  if (count == 0) return false;
  std::vector<NestedBuilder> merged;
  for (const NestedField& field : rows_->fields()) merged.emplace_back(field);
  for (size_t i = mark.batches - count; i < mark.batches; ++i)
    if (!appender_->read(mark, i, merged).is_ok()) return false;
  if (!format::arrow::append_rows(rows_->columns(), merged)) return false;
  const int64_t rows = merged.empty() ? 0 : merged[0].length();
  if (rows > options_.batch_rows) return false;
  appender_->cut({mark.generation, mark.batches - count});
  write(merged, rows, true);
  return true;
}

std::shared_ptr<const format::arrow::FileReader> PendingWrite::reader() {
  throw_if_failed(broken_);
  if (!is_changed_) return nullptr;
  flush(false);
  if (reader_ == nullptr) reader_ = value_or_throw(format::arrow::FileReader::open_pending(path_, appender_->footer()));
  return reader_;
}

void PendingWrite::cut(const Mark& mark) {
  reader_.reset();
  writer_->settle();
  if (writer_->has_failed()) {  // its rows are those that the mark counts, and more
    writer_->take_back(rows_->columns());
    broken_ = Status::ok();
  }
  if (appender_->mark() == mark.batches) return rows_->cut(mark.rows);
  rows_->cut(0);
  if (mark.rows > 0) {  // they went into the next batch, together with others
    throw_if_failed(appender_->read(mark.batches, mark.batches.batches, rows_->columns()));
    rows_->cut(mark.rows);
  }
  appender_->cut(mark.batches);
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
  is_changed_ = is_changed_ && (rows_->rows() > 0 || !(appender_->mark() == first_));
  if (!is_changed_) return;
  flush(true);
  throw_if_failed(appender_->prepare());
}

}  // namespace strom::pg::fdw_arrow
