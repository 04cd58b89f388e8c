// Chooses the probe of an instruction by the kind of its join table. Single source, for every platform.
#pragma once

#include "engine/block/tile_op.hpp"
#include "engine/op/gist_join/kernel.hpp"
#include "engine/op/tree_join/kernel.hpp"

namespace strom::engine::op {

template <class P>
STROM_KERNEL void dispatch_probe(const P& p, TileState& s, const TileInstr& instr) {
  const bool first = static_cast<TileOp>(instr.op) == TileOp::kFindCandidate;
  const bool tree = s.joins[instr.imm].kind == JoinTableKind::kTree;
  if (tree && first)
    find_in_tree(p, s, instr);
  else if (tree)
    next_in_tree(p, s, instr);
  else if (first)
    find_in_cells(p, s, instr);
  else
    next_in_cells(p, s, instr);
}

}  // namespace strom::engine::op
