// The files that events go to: one for each name that the pattern gives. What is written is added to a file in place,
// and the file is whole at any instant. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/builder.hpp"
#include "fluent2arrow/settings.hpp"
#include "format/arrow/writer.hpp"

namespace strom::fluent2arrow {

/// kInvalidParameter for a pattern with unknown parts. There are {tag}, and %Y %y %m %d %H %M %S for the local time.
Status check_pattern(const std::string& pattern);
/// Characters of a tag that could lead elsewhere, or hide a file, become _.
std::string path_of(const std::string& pattern, std::string_view tag, int64_t time_s);

class EventFiles {
 public:
  explicit EventFiles(const Settings& settings);

  /// Keeps an event for the next write(). Errors: those of RecordColumns::append().
  Status add(std::string_view tag, const format::forward::Event& event);
  /// Writes all that was added; then it is on the disk. Errors: kDiskFull and the like; what was not written stays for
  /// the next try.
  Status write(int64_t time_s);
  int64_t waiting_rows() const { return waiting_rows_; }

  format::forward::RecordCounts counts;
  int64_t files = 0;

 private:
  /// Events of a tag that wait.
  struct Waiting {
    std::vector<columnar::ColumnBuilder> columns;
    int64_t rows = 0;
  };
  Status write_tag(const std::string& tag, Waiting& waiting, int64_t time_s);
  Status create_file(const std::string& path, Waiting& waiting);
  Status append_to_file(const std::string& path, Waiting& waiting, bool* is_ours);
  std::vector<size_t> statistics_columns() const;

  const Settings& settings_;
  const std::vector<columnar::Field> fields_;
  format::forward::RecordColumns records_;
  format::arrow::Compressor compressor_;
  std::map<std::string, Waiting, std::less<>> waiting_;
  int64_t waiting_rows_ = 0;
};

}  // namespace strom::fluent2arrow
