// The CUDA instantiation of probes that are compiled apart from the tile interpreter, for device code.
#include "engine/inst/probes_cuda.cuh"

#include "engine/block/tile_op.hpp"
#include "engine/op/gist_join/kernel.hpp"
#include "engine/op/tree_join/kernel.hpp"

namespace strom::engine::inst {

__device__ void probe_index(block::TileState& state, const block::TileInstr& instr) {
  const bool first = static_cast<block::TileOp>(instr.op) == block::TileOp::kFindCandidate;
  const bool tree = state.joins[instr.imm].kind == block::JoinTableKind::kTree;
  if (tree && first)
    op::find_in_tree(platform::Cuda{}, state, instr);
  else if (tree)
    op::next_in_tree(platform::Cuda{}, state, instr);
  else if (first)
    op::find_in_cells(platform::Cuda{}, state, instr);
  else
    op::next_in_cells(platform::Cuda{}, state, instr);
}

}  // namespace strom::engine::inst
