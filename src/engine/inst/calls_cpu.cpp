// The CPU instantiation of one group of functions. Compiled once per instruction set and group, with STROM_ISA,
// STROM_TILE_GROUP (the group's name) and STROM_GROUP_HEADER (the group's header in engine/op/call) defined.
#include "engine/inst/calls_cpu.hpp"

#include STROM_GROUP_HEADER

namespace strom::engine::inst {

void STROM_CALL_ENTRY(STROM_TILE_GROUP)(block::TileState& state, const block::TileInstr& instr, uint16_t member) {
  op::STROM_TILE_GROUP::execute_group(platform::Cpu{}, state, instr, member);
}

}  // namespace strom::engine::inst
