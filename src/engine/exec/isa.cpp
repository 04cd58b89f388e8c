// Which instruction set this machine runs the tile interpreter with.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "engine/exec/execution.hpp"
#include "engine/exec/isa.hpp"

namespace strom::engine::exec {

const char* isa_name(Isa isa) {
  switch (isa) {
    case Isa::kBaseline: return "baseline";
    case Isa::kV2: return "x86-64-v2";
    case Isa::kV3: return "AVX2";
    case Isa::kV4: return "AVX-512";
  }
  return "?";
}

namespace {

Isa machine_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return Isa::kV4;
  if (__builtin_cpu_supports("x86-64-v3")) return Isa::kV3;
  if (__builtin_cpu_supports("x86-64-v2")) return Isa::kV2;
#endif
  return Isa::kBaseline;
}

}  // namespace

Isa best_isa() {
  static const Isa isa = [] {
    const Isa best = machine_isa();
    const char* wanted = std::getenv("STROM_ISA");
    if (wanted == nullptr) return best;
    for (Isa level : {Isa::kV4, Isa::kV3, Isa::kV2, Isa::kBaseline}) {
      const char* name = level == Isa::kV4 ? "v4" : level == Isa::kV3 ? "v3" : level == Isa::kV2 ? "v2" : "baseline";
      if (std::strcmp(wanted, name) == 0 && level <= best) return level;
    }
    return best;
  }();
  return isa;
}

namespace {

/// A shared object that runs tiles on another machine, e.g. the emulated CUDA one; named by the server's environment
/// for tests of the whole path.
Result<block::RunMorsel> load_tile_library(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* entry = library == nullptr ? nullptr : dlsym(library, "strom_run_morsel");
  if (entry == nullptr)
    return Status(ErrorCode::kIoError, std::string("STROM_TILE_LIBRARY cannot be used: ") + dlerror());
  return reinterpret_cast<block::RunMorsel>(entry);
}

}  // namespace

Result<block::RunMorsel> run_morsel_for(Isa isa) {
  const char* library = std::getenv("STROM_TILE_LIBRARY");
  if (library != nullptr && *library != '\0') {
    static const Result<block::RunMorsel> loaded = load_tile_library(library);
    return loaded;
  }
#if defined(__x86_64__)
  if (isa == Isa::kV4) return block::RunMorsel{inst::run_morsel_v4};
  if (isa == Isa::kV3) return block::RunMorsel{inst::run_morsel_v3};
  if (isa == Isa::kV2) return block::RunMorsel{inst::run_morsel_v2};
#endif
  return block::RunMorsel{inst::run_morsel_baseline};
}

}  // namespace strom::engine::exec
