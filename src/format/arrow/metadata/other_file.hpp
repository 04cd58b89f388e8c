// The error for a file that is not an Arrow file. Private to src/format/arrow.
#pragma once

#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

/// kCorruptFile; the detail says what kind of file it is instead, as far as its first bytes tell.
Status not_an_arrow_file(const FileBytes& file);

}  // namespace strom::format::arrow
