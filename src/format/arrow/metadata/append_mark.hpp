// What FileAppender leaves in the footer's custom metadata, by which a reader that has the file open knows that bytes
// were only added to it since. Private to src/format/arrow.
#pragma once

#include <cstdint>
#include <string>

#include "arrow_ipc_generated.h"
#include "format/arrow/metadata/file_tail.hpp"

namespace strom::format::arrow {

inline constexpr char kAppendKey[] = "strom.append";

/// In the footer as `token:size:mtime:footer`.
struct AppendMark {
  std::string token;  // random, of this file as long as it is appended to; empty: no mark
  /// The file before the first of these appends, when its footer had no mark.
  int64_t base_size = 0, base_mtime_ns = 0, base_footer = 0;

  static AppendMark make(int64_t base_size, int64_t base_mtime_ns, int64_t base_footer);
  static AppendMark read(const fbs::Footer& footer);
  std::string text() const;
};

/// The end of a footer that starts at `offset` and may reach to `limit`, where the file's last ten bytes are: an append
/// that is under way, or was cut off, lies behind the footer's own ten bytes.
int64_t footer_end(const FileBytes& bytes, int64_t offset, int64_t limit);

/// The footer, verified. Errors: kCorruptFile.
Result<Metadata<fbs::Footer>> load_footer(const FileBytes& bytes, int64_t offset, int64_t limit);

/// A file that was written to while `mine`, with its footer at `footer_offset`, was open: what was read of it holds.
bool holds_after_append(const FileTail& now, const AppendMark& mine, const base::FileIdentity& identity,
                        int64_t footer_offset);

}  // namespace strom::format::arrow
