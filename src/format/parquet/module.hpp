// The Parquet module, a shared object that need not be installed: opened for the first Parquet file. Private to
// src/format, except for set_module_path().
#pragma once

#include <string>

#include "base/status.hpp"
#include "format/parquet/module_abi.h"

namespace strom::format::parquet {

/// Sets where the module is looked for. Before the first call, it is not looked for. Not thread-safe.
void set_module_path(std::string path);

/// The module's functions, loaded for the rest of the process. Its libraries may start threads while they are loaded;
/// these block the signals that this thread blocks. Errors: kUnsupported (there is no module, or it has another
/// version).
Result<const strom_parquet_module_functions*> load_module();

}  // namespace strom::format::parquet
