// Adds record batches to an Arrow file in place, all at once or not at all. Used by INSERT. At every instant the file
// is complete for every reader, whatever is killed; docs/dev/arrow.md says how.
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

/// The system calls that change a file. Tests replace them.
class FileOps {
 public:
  virtual ~FileOps() = default;
  /// Writes all pieces at `offset`; 0 or an errno.
  virtual int write(int fd, std::vector<struct iovec> pieces, int64_t offset);
  /// Makes the file longer, see write_new_end().
  virtual int extend(int fd, const void* bytes, size_t size, int64_t end);
  virtual int sync(int fd);
  virtual int truncate(int fd, int64_t size);
  static FileOps& system();
};

struct AppendOptions {
  bool sync = true;                  // false: not safe against power cuts
  int64_t rewrite_above = 16 << 20;  // unused bytes from which on a file is rewritten without them
  /// Largest distance of a footer from the file's end before it is moved there: readers that do not map the file read
  /// everything in between.
  int64_t most_span = int64_t{256} << 20;
  FileOps* ops = &FileOps::system();
};

/// Not thread-safe. Nobody else sees the changes before commit(). If it is destroyed before, the file is unchanged.
class FileAppender {
 public:
  /// `lock` is a lock on `path`. Errors: those of opening a file; kCorruptFile; kUnsupported for files that cannot be
  /// appended to.
  static Result<std::unique_ptr<FileAppender>> open(const std::string& path, std::unique_ptr<AppendLock> lock,
                                                    const AppendOptions& options);
  virtual ~FileAppender() = default;

  virtual const std::string& path() const = 0;
  /// The schema of the batches since clear().
  virtual const columnar::Schema& schema() const = 0;
  /// Columns whose bounds write() gets and the footer will have: those that already have some.
  virtual const std::vector<size_t>& statistics_columns() const = 0;
  /// Adds these columns.
  virtual void add_statistics(const std::vector<size_t>& columns) = 0;

  /// `is_last`: prepare() comes next. `bounds`: of statistics_columns(). Errors: kDiskFull, kIoError.
  virtual Status write(const EncodedBatch& batch, std::vector<Bounds> bounds, bool is_last) = 0;
  /// The dictionary of a field of schema(), or of a part of one, with the file's values. Values that are added to it
  /// are written when they are needed. nullptr: values of this type cannot be added. Errors: kCorruptFile.
  virtual Result<std::shared_ptr<columnar::DictionaryBuilder>> dictionary(const columnar::Field& field) = 0;
  /// Removes all record batches. Later ones have another schema, which has no dictionaries.
  virtual void clear(columnar::Schema schema) = 0;

  /// A state that cut() can go back to.
  struct Mark {
    size_t generation = 0, batches = 0;  // generation: number of calls of clear(), each with a schema of its own
    bool operator==(const Mark&) const = default;
  };
  virtual Mark mark() const = 0;
  virtual void cut(const Mark& mark) = 0;
  /// Appends the rows of record batch `batch` of `mark`'s generation to `to`. Indexes into dictionaries do not change.
  virtual Status read(const Mark& mark, size_t batch, std::vector<columnar::ColumnBuilder>& to) const = 0;
  /// How many of the last record batches should be read, removed by cut() and written together with a new batch of
  /// `bytes` bytes, so that there are few small ones. None when the result would have more than `full` bytes.
  virtual size_t small_batches(int64_t bytes, int64_t full) const = 0;

  /// A note of the footer (footer_note.hpp); empty: there is none.
  virtual std::string note(std::string_view key) const = 0;
  virtual void set_note(std::string_view key, std::string text) = 0;

  /// The footer as it would be now, for FileReader::open_pending(). Writes dictionaries that have grown first.
  virtual Result<std::string> footer() = 0;
  /// The same with the first `batches` record batches only, and with the very last one if `and_last`.
  virtual Result<std::string> footer(size_t batches, bool and_last) = 0;

  /// Does everything that takes long or can fail.
  virtual Status prepare() = 0;
  /// Makes the changes visible to others. Called once, after prepare().
  virtual Status commit() = 0;
  /// Undoes commit().
  virtual void undo() = 0;
  /// Tells that commit() will not be undone.
  virtual void settle() = 0;
};

/// Appends all rows of `from` to columns with the same fields. False when they are too large for one batch.
bool append_rows(const std::vector<columnar::ColumnBuilder>& from, std::vector<columnar::ColumnBuilder>& to);

}  // namespace strom::format::arrow
