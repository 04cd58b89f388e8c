// The mark that FileAppender leaves in the footer's custom metadata. By it, a reader that has the file open knows that
// since then bytes were only added. Private to src/format/arrow.
#pragma once

#include <cstdint>
#include <string>

#include "arrow_ipc_generated.h"
#include "format/arrow/metadata/file_tail.hpp"

namespace strom::format::arrow {

inline constexpr char kAppendKey[] = "strom.append";

/// In the footer as `token:size:mtime:footer`.
struct AppendMark {
  std::string token;  // random, constant for this file as long as it is appended to; empty: no mark
  /// The file before the first of these appends, when its footer had no mark yet.
  int64_t base_size = 0, base_mtime_ns = 0, base_footer = 0;

  static AppendMark make(int64_t base_size, int64_t base_mtime_ns, int64_t base_footer);
  static AppendMark read(const fbs::Footer& footer);
  std::string text() const;
};

/// The end of a footer that starts at `offset`. The end is at most `limit`, where the file's last ten bytes are. An
/// append that is under way, or was cut off, lies behind the footer's own ten bytes.
int64_t footer_end(const FileBytes& bytes, int64_t offset, int64_t limit);

/// Loads and verifies the footer. Errors: kCorruptFile.
Result<Metadata<fbs::Footer>> load_footer(const FileBytes& bytes, int64_t offset, int64_t limit);

/// True when data read from a file is still valid although the file was written to. `mine` and `footer_offset` are the
/// mark and the footer of the file when it was opened.
bool holds_after_append(const FileTail& now, const AppendMark& mine, const base::FileIdentity& identity,
                        int64_t footer_offset);

}  // namespace strom::format::arrow
