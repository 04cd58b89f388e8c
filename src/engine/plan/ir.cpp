#include "engine/plan/ir.hpp"
#include "registry/functions.hpp"

namespace strom::engine::plan {

bool can_be_unheld(const Constant& constant) {
  return constant.unheld ||
         (constant.param >= 0 && (constant.may_raise || constant.type.type == registry::TypeId::kDecimal));
}

namespace {

bool raises_itself(const Program& program, const Node& n) {
  switch (n.kind) {
    case NodeKind::kConst: return can_be_unheld(program.constants[n.imm]);
    case NodeKind::kRescale:
    case NodeKind::kNumericToInt:
    case NodeKind::kNumericToFloat:
    case NodeKind::kToDecimal:
    case NodeKind::kFixDecimal:
    case NodeKind::kAssume: return true;
    case NodeKind::kCall: return (registry::kFunctions[n.imm].traits & registry::kRaises) != 0;
    default: return false;
  }
}

/// True when the node's text does not stay in place: a text of an unstable source's column, or one that a function
/// makes. Any other text is an argument, a part of one, or a constant.
bool has_unstable_source(const Node& n, bool stable_source) {
  if (n.type.phys() != registry::Phys::kStr) return false;
  if (n.kind == NodeKind::kColumn) return !stable_source;
  return n.kind == NodeKind::kCall && (registry::kFunctions[n.imm].traits & registry::kMakesText) != 0;
}

}  // namespace

bool can_raise(const Program& program, NodeId id) {
  bool raises = false;
  visit(program, id, [&](NodeId, const Node& n) {
    raises = raises || raises_itself(program, n);
    return !raises;
  });
  return raises;
}

bool has_stable_text(const Program& program, NodeId id, bool stable_source) {
  if (program.nodes[id].type.phys() != registry::Phys::kStr) return true;
  bool stable = true;
  visit(program, id, [&](NodeId, const Node& n) {
    stable = stable && !has_unstable_source(n, stable_source);
    return stable && n.type.phys() == registry::Phys::kStr;
  });
  return stable;
}

namespace {

// For expressions that are no columns.
constexpr uint32_t kNoColumn = UINT32_MAX;
uint32_t widened_column(const Program& program, NodeId id) {
  using registry::FunctionId;
  for (;; id = program.nodes[id].args[0]) {
    const Node& node = program.nodes[id];
    if (node.kind == NodeKind::kColumn) return node.imm;
    if (node.kind != NodeKind::kCall) return kNoColumn;
    const auto function = static_cast<FunctionId>(node.imm);
    const bool widens = function == FunctionId::kInt2ToInt4 || function == FunctionId::kInt2ToInt8 ||
                        function == FunctionId::kInt4ToInt8;
    if (!widens) return kNoColumn;
  }
}

}  // namespace

bool matches_nothing(const Program& program, const Join& join) {
  for (const NodeId key : join.outer_keys)
    if (can_raise(program, key)) return false;
  for (const NodeId qual : join.quals) {
    const Node& node = program.nodes[qual];
    if (node.kind != NodeKind::kConst) continue;
    const Constant& value = program.constants[node.imm];
    if (value.param < 0 && !value.unheld && (value.is_null || value.bytes == std::string(1, '\0'))) return true;
  }
  return false;
}

std::vector<KeyColumn> deciding_key_columns(const Program& program) {
  std::vector<KeyColumn> columns;
  for (const uint32_t join : program.pipelines.back().joins)
    if (keeps_unmatched(program.joins[join].kind)) return columns;  // these joins need all rows
  for (const uint32_t join : program.pipelines.back().joins) {
    const Join& one = program.joins[join];
    if ((one.kind != JoinKind::kInner && one.kind != JoinKind::kSemi) || one.spatial != SpatialMatch::kNone) continue;
    for (uint32_t key = 0; key < one.outer_keys.size(); ++key)
      if (const uint32_t column = widened_column(program, one.outer_keys[key]); column != kNoColumn)
        columns.push_back({join, key, column});
  }
  return columns;
}

}  // namespace strom::engine::plan
