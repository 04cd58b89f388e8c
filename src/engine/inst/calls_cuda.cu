// The CUDA instantiation of one group of functions, for device code. Compiled once per group, with STROM_TILE_GROUP
// (the group's name) and STROM_GROUP_HEADER (the group's header in engine/op/call) defined.
#include "engine/inst/calls_cuda.cuh"

#include STROM_GROUP_HEADER

namespace strom::engine::inst {

__device__ void STROM_CALL_ENTRY(STROM_TILE_GROUP)(block::TileState& state, const block::TileInstr& instr,
                                                   uint16_t member) {
  op::STROM_TILE_GROUP::execute_group(platform::Cuda{}, state, instr, member);
}

}  // namespace strom::engine::inst
