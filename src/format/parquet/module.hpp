// The Parquet module, a shared object that need not be installed: opened when the first Parquet file is met. Private to
// src/format but for its place.
#pragma once

#include <string>

#include "base/status.hpp"
#include "format/parquet/module_abi.h"

namespace strom::format::parquet {

/// Where the module is looked for; nowhere, before this was called. Not thread-safe.
void set_module_path(std::string path);

/// The module's functions, for the rest of the process. Libraries that it brings along may start threads while they are
/// loaded; these block the signals that this thread blocks. Errors: kUnsupported (there is none, or of another
/// version).
Result<const strom_parquet_module_functions*> load_module();

}  // namespace strom::format::parquet
