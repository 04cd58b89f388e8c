// The rows that one transaction has written to one file of a writable table. pending.cpp has a list of these objects.
// For the main thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/arrow/batch/compression.hpp"
#include "format/arrow/write/file_appender.hpp"
#include "format/arrow/read/reader.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/column_writer.hpp"
#include "pg/files/batch_writer.hpp"
#include "pg/files/binding.hpp"
#include "pg/files/options.hpp"

namespace strom::pg::files {

/// Lives from the first row of a transaction until its end. If a table's option "file" changes meanwhile, the table has
/// one such object for each file. All functions may throw, unless they say otherwise.
class PendingWrite {
 public:
  PendingWrite(Oid relid, std::string path) : relid_(relid), path_(std::move(path)) {}
  /// Restores the file, unless settle() was called. Does not throw.
  ~PendingWrite();

  Oid relid() const { return relid_; }
  const std::string& path() const { return path_; }
  int level() const { return level_; }
  bool is_broken() const { return !broken_.is_ok(); }
  void fail(Status status) { broken_ = std::move(status); }
  /// The state of the catalogs (a count) by which the columns are bound.
  uint64_t catalog_state() const { return catalog_state_; }

  /// Locks the file, or makes one. The caller calls fit_to() or truncate() next.
  void open(const catalog::ForeignTable& table);
  /// Later rows are written by the table's current definition. Earlier rows stay as they are.
  void fit_to(const catalog::ForeignTable& table, const TableOptions& options, uint64_t catalog_state);
  /// Removes all rows, and makes the file's fields fit the table.
  void truncate(const catalog::ForeignTable& table, const TableOptions& options, uint64_t catalog_state);

  /// Appends a row of command `command`. May ereport.
  void add(TupleTableSlot* slot, CommandId command);
  void add(const codec::RegisterColumn* columns, int64_t rows, CommandId command);

  /// The file with the rows of all commands before `command`; nullptr when these are the rows that the file has on
  /// disk.
  std::shared_ptr<const format::arrow::FileReader> reader(CommandId command);

  /// Ends the subtransaction at `level`.
  void end_level(int level, bool is_commit);
  void prepare();
  void commit();
  /// Keeps the file as it is written: the destructor does not restore it. Does not throw.
  void settle();

 private:
  /// A number of rows: whole record batches, and the rows after them.
  struct Position {
    format::arrow::FileAppender::Mark batches;
    int64_t rows;
    bool operator==(const Position&) const = default;
    bool is_before(const Position& other) const;
  };
  /// The state before the first row of a subtransaction.
  struct Mark {
    int level;
    Position position;
    std::shared_ptr<Binding> binding;
  };
  /// The position at which the rows of a command begin.
  struct CommandStart {
    CommandId command;
    Position position;
  };

  void create(const catalog::ForeignTable& table);
  void take_options(const TableOptions& options);
  void use(std::shared_ptr<Binding> binding, const catalog::ForeignTable& table);
  Position position() const { return {appender_->mark(), binding_ == nullptr ? 0 : rows().rows()}; }
  codec::RowWriter& rows() const { return *binding_->rows; }
  void note_level();
  void note_command(CommandId command);
  void note_rows();
  bool is_full() const;
  void start_batch();
  void flush(bool is_last);
  void settle_batch();
  void write(const std::vector<columnar::ColumnBuilder>& columns, int64_t rows, bool is_last);
  bool merge_small();
  void cut(const Mark& mark);
  std::shared_ptr<const format::arrow::FileReader> reader_at(const Position& position);

  Oid relid_;
  std::string path_;  // the option's path, with links resolved
  TableOptions options_;
  std::unique_ptr<format::arrow::Compressor> compressor_;
  std::unique_ptr<format::arrow::FileAppender> appender_;
  std::shared_ptr<Binding> binding_;     // nullptr: truncate() must come before rows
  std::unique_ptr<BatchWriter> writer_;  // refers to compressor_ and appender_
  Position first_{};
  std::vector<Mark> marks_;
  std::vector<CommandStart> commands_;  // ascending
  int level_ = 1;                       // of the transaction that opened the file
  uint64_t catalog_state_ = 0;
  std::shared_ptr<const format::arrow::FileReader> reader_;  // reads all rows
  std::shared_ptr<const format::arrow::FileReader> earlier_reader_;
  Position earlier_{};  // where earlier_reader_ ends
  Status broken_;
  bool is_created_ = false, is_changed_ = false, is_done_ = false;
};

}  // namespace strom::pg::files
