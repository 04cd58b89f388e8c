#include "engine/plan/ir.hpp"
#include "registry/functions.hpp"

namespace strom::engine::plan {

bool can_be_unheld(const Constant& constant) {
  return constant.unheld ||
         (constant.param >= 0 && (constant.may_raise || constant.type.type == registry::TypeId::kDecimal));
}

bool can_raise(const Program& program, NodeId id) {
  const Node& n = program.nodes[id];
  if (n.kind == NodeKind::kConst) return can_be_unheld(program.constants[n.imm]);
  if (n.kind == NodeKind::kRescale || n.kind == NodeKind::kNumericToInt || n.kind == NodeKind::kNumericToFloat ||
      n.kind == NodeKind::kToDecimal || n.kind == NodeKind::kFixDecimal || n.kind == NodeKind::kAssume)
    return true;
  if (n.kind == NodeKind::kCall && registry::kFunctions[n.imm].traits & registry::kRaises) return true;
  for (NodeId arg : n.args)
    if (arg != kNoNode && can_raise(program, arg)) return true;
  return false;
}

bool has_stable_text(const Program& program, NodeId id, bool stable_source) {
  const Node& n = program.nodes[id];
  if (n.type.phys() != registry::Phys::kStr) return true;
  switch (n.kind) {
    case NodeKind::kColumn: return stable_source;
    case NodeKind::kPayload:
    case NodeKind::kConst: return true;
    case NodeKind::kCall:
      if (registry::kFunctions[n.imm].traits & registry::kMakesText) return false;
      break;
    default: break;
  }
  // Any other result is a part of an argument or one of them.
  for (NodeId arg : n.args)
    if (arg != kNoNode && !has_stable_text(program, arg, stable_source)) return false;
  return true;
}

}  // namespace strom::engine::plan
