// The CPU instantiation of the tile interpreter. Compiled once per instruction set, with STROM_ISA naming the level.
#include "engine/inst/tile_cpu.hpp"

#include "engine/op/pipeline/kernel.hpp"

#define STROM_CONCAT2(a, b) a##b
#define STROM_ENTRY(isa) STROM_CONCAT2(run_morsel_, isa)

namespace strom::engine::inst {

block::RunResult STROM_ENTRY(STROM_ISA)(block::TileState& state) {
  return op::run_morsel(platform::Cpu{}, state);
}

}  // namespace strom::engine::inst
