// The metadata of an Arrow file as text, for people and for comparisons of files: the tools' --dump.
#pragma once

#include <string>

#include "base/status.hpp"

namespace strom::format::arrow {

/// Footer, dictionaries and record batches of any Arrow file, even with unsupported types. Errors: those of opening a
/// file; kCorruptFile.
Result<std::string> describe_file(const std::string& path);

}  // namespace strom::format::arrow
