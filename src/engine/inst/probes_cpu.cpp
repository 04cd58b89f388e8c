// The CPU instantiation of probes that are compiled apart from the tile interpreter. Compiled once per instruction set,
// with STROM_ISA naming the level.
#include "engine/inst/probes_cpu.hpp"

#include "engine/block/tile_op.hpp"
#include "engine/op/gist_join/kernel.hpp"
#include "engine/op/tree_join/kernel.hpp"

namespace strom::engine::inst {

void STROM_PROBE_ENTRY(block::TileState& state, const block::TileInstr& instr) {
  const bool first = static_cast<block::TileOp>(instr.op) == block::TileOp::kFindCandidate;
  const bool tree = state.joins[instr.imm].kind == block::JoinTableKind::kTree;
  if (tree && first)
    op::find_in_tree(platform::Cpu{}, state, instr);
  else if (tree)
    op::next_in_tree(platform::Cpu{}, state, instr);
  else if (first)
    op::find_in_cells(platform::Cpu{}, state, instr);
  else
    op::next_in_cells(platform::Cpu{}, state, instr);
}

}  // namespace strom::engine::inst
