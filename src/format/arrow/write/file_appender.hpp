// Record batches added to an Arrow file in place, all at once or not at all. Used by INSERT. The file is whole at every
// instant, whoever opens it and whatever is killed; docs/dev/arrow.md says how.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "columnar/schema.hpp"
#include "columnar/builder.hpp"
#include "columnar/dictionary_builder.hpp"
#include "format/append_lock.hpp"
#include "format/arrow/statistics/batch_statistics.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::format::arrow {

/// The system calls that change a file. Tests put others in their place.
class FileOps {
 public:
  virtual ~FileOps() = default;
  /// All of the pieces at `offset`; 0 or an errno.
  virtual int write(int fd, std::vector<struct iovec> pieces, int64_t offset);
  /// A longer file, see write_new_end().
  virtual int extend(int fd, const void* bytes, size_t size, int64_t end);
  virtual int sync(int fd);
  virtual int truncate(int fd, int64_t size);
  static FileOps& system();
};

struct AppendOptions {
  bool sync = true;                  // false: without regard to power cuts
  int64_t rewrite_above = 16 << 20;  // bytes that nothing refers to, from which on a file is rewritten without them
  /// How far a footer may be from the file's end before it is moved there: readers that do not map the file read all
  /// that is between.
  int64_t most_span = int64_t{256} << 20;
  FileOps* ops = &FileOps::system();
};

/// Not thread-safe. Nobody else sees anything of it before commit(); destroyed before, the file is as it was.
class FileAppender {
 public:
  /// `lock` is one of `path`. Errors: those of opening a file; kCorruptFile; kUnsupported for files that cannot be
  /// gone on with.
  static Result<std::unique_ptr<FileAppender>> open(const std::string& path, std::unique_ptr<AppendLock> lock,
                                                    const AppendOptions& options);
  virtual ~FileAppender() = default;

  virtual const std::string& path() const = 0;
  /// Of the batches since clear().
  virtual const columnar::Schema& schema() const = 0;
  /// Indexes of columns whose bounds write() gets, and the footer will have: those that have some already.
  virtual const std::vector<size_t>& statistics_columns() const = 0;
  /// Also of these columns.
  virtual void add_statistics(const std::vector<size_t>& columns) = 0;

  /// `is_last`: prepare() comes next. `bounds` of statistics_columns(). Errors: kDiskFull, kIoError.
  virtual Status write(const EncodedBatch& batch, std::vector<Bounds> bounds, bool is_last) = 0;
  /// The dictionary of a field of schema(), or of a part of one, with what the file has in it. What is added to it is
  /// written when it is needed. nullptr: its values are of a type that cannot be added. Errors: kCorruptFile.
  virtual Result<std::shared_ptr<columnar::DictionaryBuilder>> dictionary(const columnar::Field& field) = 0;
  /// No record batch is left, and those that come have another schema, which has no dictionaries.
  virtual void clear(columnar::Schema schema) = 0;

  /// To come back to by cut().
  struct Mark {
    size_t generation = 0, batches = 0;  // generation: how often clear() was called, each time with a schema of its own
    bool operator==(const Mark&) const = default;
  };
  virtual Mark mark() const = 0;
  virtual void cut(const Mark& mark) = 0;
  /// Appends the rows of record batch `batch` of `mark`'s generation. Indexes into dictionaries stay as they are.
  virtual Status read(const Mark& mark, size_t batch, std::vector<columnar::ColumnBuilder>& to) const = 0;
  /// How many of the last record batches are to be read, removed by cut() and written together with a new one of
  /// `bytes`, so that small ones stay few; none that would make more than `full` bytes.
  virtual size_t small_batches(int64_t bytes, int64_t full) const = 0;

  /// A note of the footer (footer_note.hpp); empty: none.
  virtual std::string note(std::string_view key) const = 0;
  virtual void set_note(std::string_view key, std::string text) = 0;

  /// The footer as it would be now, for FileReader::open_pending(). Dictionaries that have grown are written before.
  virtual Result<std::string> footer() = 0;
  /// The same with the first `batches` record batches only, and with the last one of all when `and_last` is true.
  virtual Result<std::string> footer(size_t batches, bool and_last) = 0;

  /// Everything that takes long or can fail.
  virtual Status prepare() = 0;
  /// From here on others see it. Once, after prepare().
  virtual Status commit() = 0;
  /// As if there had been no commit().
  virtual void undo() = 0;
  /// It will not be undone.
  virtual void settle() = 0;
};

/// Appends all rows of `from` to columns of the same fields. False when they are too large for one batch.
bool append_rows(const std::vector<columnar::ColumnBuilder>& from, std::vector<columnar::ColumnBuilder>& to);

}  // namespace strom::format::arrow
