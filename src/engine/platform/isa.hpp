// Instruction sets that the tile code is built for, and the one of this computer. Host only.
#pragma once

#include <cstdint>

namespace strom::engine::platform {

enum class Isa : uint8_t { kBaseline, kV2, kV3, kV4 };
const char* isa_name(Isa isa);  // "x86-64-v2", "AVX2", "AVX-512", "baseline"
/// Best level of this computer; lowered by environment STROM_ISA=v2|v3|v4 for tests.
Isa best_isa();

// LEVEL(name, enumerator of Isa) for each level that src/engine/CMakeLists.txt builds, the lowest first.
#if defined(__x86_64__)
#define STROM_FOR_EACH_ISA(LEVEL) LEVEL(baseline, kBaseline) LEVEL(v2, kV2) LEVEL(v3, kV3) LEVEL(v4, kV4)
#else
#define STROM_FOR_EACH_ISA(LEVEL) LEVEL(baseline, kBaseline)
#endif

}  // namespace strom::engine::platform
