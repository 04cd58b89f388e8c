// See module.hpp.
#include "format/parquet/module.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <mutex>
#include <utility>

namespace strom::format::parquet {

namespace {

std::mutex module_mutex;
const strom_parquet_module_functions* loaded_module = nullptr;

std::string& module_path() {
  static auto* path = new std::string();
  return *path;
}

Status unavailable(std::string detail) {
  return Status(ErrorCode::kUnsupported, "Parquet files cannot be read: the Parquet module could not be loaded")
      .with_detail(std::move(detail))
      .with_hint(
          "Build pg_strom with -DSTROM_PARQUET=ON, which needs Apache Arrow's packages libarrow-dev and libparquet-dev "
          "or Python's pyarrow, and install its pg_strom_parquet.so.");
}

}  // namespace

void set_module_path(std::string path) { module_path() = std::move(path); }

Result<const strom_parquet_module_functions*> load_module() {
  std::lock_guard lock(module_mutex);
  if (loaded_module != nullptr) return loaded_module;
  const std::string& path = module_path();
  if (path.empty() || access(path.c_str(), F_OK) != 0) return unavailable("There is no file \"" + path + "\".");
  // RTLD_LOCAL: the symbols of its libraries must not clash with others.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return unavailable(dlerror());
  const auto entry = reinterpret_cast<strom_parquet_entry>(dlsym(library, STROM_PARQUET_ENTRY));
  const strom_parquet_module_functions* module = entry != nullptr ? entry() : nullptr;
  if (module == nullptr || module->abi != STROM_PARQUET_ABI || module->size != sizeof(*module)) {
    dlclose(library);
    return unavailable("\"" + path + "\" is of another version of pg_strom.");
  }
  loaded_module = module;
  return loaded_module;
}

}  // namespace strom::format::parquet
