// Text that is compressed: gzip, zstd or lz4, known by its first bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "cli/spool.hpp"

namespace strom::tsv2arrow {

/// The text of compressed bytes; nullptr when they are not compressed in one of these ways. Parts that follow one
/// another, as those programs make them of several files, are one text. kCorruptFile: damaged, or cut off. `name`: of
/// the file, for messages.
Result<std::unique_ptr<tool::Spool>> decompress(const std::string& name, std::string_view bytes);

}  // namespace strom::tsv2arrow
