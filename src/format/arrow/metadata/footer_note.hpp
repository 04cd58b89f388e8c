// Notes in the custom metadata of a file's footer: what programs keep there for themselves. They are no part of the
// schema. Used by FileAppender and by programs that write files for long.
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"

namespace strom::format::arrow {

/// Empty when there is none. Errors: those of opening a file; kCorruptFile.
Result<std::string> read_footer_note(const std::string& path, std::string_view key);

}  // namespace strom::format::arrow
