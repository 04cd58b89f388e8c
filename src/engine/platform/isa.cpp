#include "engine/platform/isa.hpp"

#include <cstdlib>
#include <cstring>

namespace strom::engine::platform {

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

Isa computer_isa() {
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
    const Isa best = computer_isa();
    const char* wanted = std::getenv("STROM_ISA");
    if (wanted == nullptr) return best;
#define STROM_LEVEL(name, level) \
  if (std::strcmp(wanted, #name) == 0 && Isa::level <= best) return Isa::level;
    STROM_FOR_EACH_ISA(STROM_LEVEL)
#undef STROM_LEVEL
    return best;
  }();
  return isa;
}

}  // namespace strom::engine::platform
