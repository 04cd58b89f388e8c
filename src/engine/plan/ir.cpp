#include "engine/plan/ir.hpp"

namespace strom::engine::plan {

bool can_raise(const Program& program, NodeId id) {
  const Node& n = program.nodes[id];
  if (n.kind == NodeKind::kRescale || n.kind == NodeKind::kNumericToInt || n.kind == NodeKind::kNumericToFloat) return true;
  if (n.kind == NodeKind::kCall && registry::kFunctions[n.imm].traits & registry::kRaises) return true;
  for (NodeId arg : n.args)
    if (arg != kNoNode && can_raise(program, arg)) return true;
  return false;
}

}  // namespace strom::engine::plan
