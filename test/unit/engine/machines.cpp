#include "machines.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "engine/exec/execution.hpp"
#include "engine/exec/isa.hpp"

namespace strom::engine::test {
namespace {

std::vector<Machine> find_machines() {
  std::vector<Machine> found;
  for (exec::Isa isa : {exec::Isa::kBaseline, exec::Isa::kV2, exec::Isa::kV3, exec::Isa::kV4})
    if (isa <= exec::best_isa()) found.push_back({exec::isa_name(isa), exec::run_morsel_for(isa).value(), false});
#ifndef __SANITIZE_THREAD__  // which does not know fibers
  found.push_back({"CUDA as SIMT", run_morsel_simt, true});
#endif
#ifdef STROM_TILE_LIBRARY_PATH
  void* library = dlopen(STROM_TILE_LIBRARY_PATH, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  found.push_back({"CUDA as PTX", reinterpret_cast<block::RunMorsel>(dlsym(library, "strom_run_morsel")), true});
#endif
  return found;
}

}  // namespace

const std::vector<Machine>& machines() {
  static const std::vector<Machine> found = find_machines();
  return found;
}

}  // namespace strom::engine::test
