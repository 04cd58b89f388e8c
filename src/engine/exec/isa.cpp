// Which instruction set this machine runs the tile interpreter with.
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

block::RunMorsel run_morsel_for(Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::kV4) return inst::run_morsel_v4;
  if (isa == Isa::kV3) return inst::run_morsel_v3;
  if (isa == Isa::kV2) return inst::run_morsel_v2;
#endif
  return inst::run_morsel_baseline;
}

}  // namespace strom::engine::exec
