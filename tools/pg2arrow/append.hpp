// Going on with an existing file, which is whole at any instant: the new file is a copy of the old one's messages, the
// new ones behind them, and takes the old one's name when it is complete and on the disk.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/arrow/nested_writer.hpp"
#include "pg2arrow/catalog.hpp"

namespace strom::pg2arrow {

/// Held while a file is appended to, by one process at a time; the others wait.
class AppendLock {
 public:
  /// Locks the file that has the name `path` at that moment.
  static Result<std::unique_ptr<AppendLock>> take(const std::string& path);
  ~AppendLock();
  AppendLock(const AppendLock&) = delete;
  AppendLock& operator=(const AppendLock&) = delete;

 private:
  explicit AppendLock(int fd) : fd_(fd) {}
  int fd_;
};

/// Fits the columns of a query to a file: names and types must be the file's, in order; enums go on with the file's
/// dictionaries, to which labels are added. kTypeMismatch names the first difference.
struct DictionaryGrowth {
  int64_t id = 0;
  std::vector<std::string> added;
};
Result<std::vector<DictionaryGrowth>> fit_to_file(const format::arrow::ExistingFile& file, const std::string& path,
                                                  std::vector<Column>& columns);

}  // namespace strom::pg2arrow
