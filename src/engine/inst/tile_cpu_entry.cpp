#include "engine/inst/tile_cpu.hpp"

namespace strom::engine::inst {

block::RunMorsel run_morsel_for(platform::Isa isa) {
#define STROM_ENTRY_OF(name, level) \
  if (isa == platform::Isa::level) return run_morsel_##name;
  STROM_FOR_EACH_ISA(STROM_ENTRY_OF)
#undef STROM_ENTRY_OF
  return run_morsel_baseline;
}

}  // namespace strom::engine::inst
