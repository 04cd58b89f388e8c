// The files that events go to: one for each name that the pattern gives. What is written is added to a file in place,
// and the file is whole at any instant. One thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "arrow_files/time_window.hpp"
#include "fluent2arrow/event_buffer.hpp"
#include "fluent2arrow/settings.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::fluent2arrow {

/// In patterns it stands for the tag.
inline constexpr std::string_view kTag = "{tag}";

/// kInvalidParameter for a pattern with unknown parts. There are {tag}, and %Y %y %m %d %H %M %S for the local time.
Status check_pattern(const std::string& pattern);
/// kInvalidParameter where spans of so many seconds that follow one another have files of the same name.
Status check_times(const std::string& pattern, int64_t seconds);
/// Characters of a tag that could lead elsewhere, or hide a file, become _.
std::string path_of(const std::string& pattern, std::string_view tag, int64_t time_s);

/// Whether the first `count` fields have the same names and types, and are there.
bool same_fields(const std::vector<columnar::Field>& a, const std::vector<columnar::Field>& b, size_t count);

class EventFiles {
 public:
  explicit EventFiles(const Settings& settings);

  /// Writes all that waits and clears it; then it is on the disk. Errors: kDiskFull and the like, the first one; what
  /// was not written stays for the next try.
  Status write(EventBuffer& events, int64_t time_s);
  /// Ids of chunks whose events are in files that are there, `most` at most. The oldest comes first.
  std::vector<std::string> written_chunks(size_t most) const;

 private:
  using Waiting = EventBuffer::Waiting;
  Status write_all_of(const std::string& tag, EventBuffer::TagEvents& events, int64_t time_s);
  Status write_tag(const std::string& tag, Waiting& waiting, int64_t time_s);
  bool is_full(const std::string& path, int64_t size);
  Status create_file(const std::string& path, Waiting& waiting);
  Status append_to_file(const std::string& path, Waiting& waiting, bool* is_ours);
  std::vector<size_t> statistics_columns(const std::vector<columnar::ColumnBuilder>& columns) const;

  const Settings& settings_;
  format::arrow::Compressor compressor_;
  tool::TimeWindows windows_;
  std::set<std::string> full_;  // paths of files that have all their rows
};

}  // namespace strom::fluent2arrow
