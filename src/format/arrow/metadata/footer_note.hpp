// Notes in the custom metadata of a file's footer: private data of programs, not a part of the schema. Used by
// FileAppender and by programs that write files over a long time.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::format::arrow {

/// Empty when there is no such note. Errors: those of opening a file; kCorruptFile.
Result<std::string> read_footer_note(const std::string& path, std::string_view key);

}  // namespace strom::format::arrow
