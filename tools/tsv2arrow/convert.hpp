// Text files into an Arrow file, by several threads.
#pragma once

#include "cli/progress.hpp"
#include "tsv2arrow/settings.hpp"

namespace strom::tsv2arrow {

using tool::DumpResult;

Result<DumpResult> convert(const Settings& settings, tool::Progress& progress);

}  // namespace strom::tsv2arrow
