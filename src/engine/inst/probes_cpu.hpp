// Entry point of the separately compiled probes on the CPU, for the instruction set that STROM_ISA names. Included by
// the translation units of this folder alone.
#pragma once

#include "engine/block/tile.hpp"

#define STROM_PROBE_CONCAT(isa) probe_index_##isa
#define STROM_PROBE_NAME(isa) STROM_PROBE_CONCAT(isa)
/// probe_index_ISA
#define STROM_PROBE_ENTRY STROM_PROBE_NAME(STROM_ISA)

namespace strom::engine::inst {

void STROM_PROBE_ENTRY(block::TileState& state, const block::TileInstr& instr);

}  // namespace strom::engine::inst
