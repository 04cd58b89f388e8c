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

namespace {

// kNoColumn for expressions that are none.
constexpr uint32_t kNoColumn = UINT32_MAX;
uint32_t widened_column(const Program& program, NodeId id) {
  using registry::FunctionId;
  const Node& node = program.nodes[id];
  if (node.kind == NodeKind::kColumn) return node.imm;
  if (node.kind != NodeKind::kCall) return kNoColumn;
  const auto function = static_cast<FunctionId>(node.imm);
  const bool widens =
      function == FunctionId::kInt2ToInt4 || function == FunctionId::kInt2ToInt8 || function == FunctionId::kInt4ToInt8;
  return widens ? widened_column(program, node.args[0]) : kNoColumn;
}

}  // namespace

std::vector<KeyColumn> deciding_key_columns(const Program& program) {
  std::vector<KeyColumn> columns;
  for (const uint32_t join : program.pipelines.back().joins)
    if (keeps_unmatched(program.joins[join].kind)) return columns;  // of what is left out these would see less
  for (const uint32_t join : program.pipelines.back().joins) {
    const Join& one = program.joins[join];
    if (one.kind != JoinKind::kInner && one.kind != JoinKind::kSemi) continue;
    for (uint32_t key = 0; key < one.outer_keys.size(); ++key)
      if (const uint32_t column = widened_column(program, one.outer_keys[key]); column != kNoColumn)
        columns.push_back({join, key, column});
  }
  return columns;
}

}  // namespace strom::engine::plan
