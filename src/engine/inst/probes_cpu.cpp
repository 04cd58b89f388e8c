// The CPU instantiation of the probes that are compiled separately from the tile interpreter. Compiled once per
// instruction set, with STROM_ISA naming the level.
#include "engine/inst/probes_cpu.hpp"

#include "engine/inst/dispatch_probe.hpp"

namespace strom::engine::inst {

void STROM_PROBE_ENTRY(block::TileState& state, const block::TileInstr& instr) {
  op::dispatch_probe(platform::Cpu{}, state, instr);
}

}  // namespace strom::engine::inst
