#include "engine/op/join/build_rows.hpp"

#include <algorithm>

namespace strom::engine::op {

using plan::Node;
using plan::NodeKind;
using plan::Pipeline;
using plan::Program;

namespace {

uint32_t null_constant(Program* program, const plan::ValueType& type) {
  for (uint32_t i = 0; i < program->constants.size(); ++i)
    if (program->constants[i].is_null && program->constants[i].type == type) return i;
  program->constants.push_back({type, true, -1, {}});
  return static_cast<uint32_t>(program->constants.size() - 1);
}

}  // namespace

Program build_rows_program(const Program& program, size_t position) {
  Program result = program;
  Pipeline& pipeline = result.pipelines.back();
  const std::vector<uint32_t> before(pipeline.joins.begin(), pipeline.joins.begin() + static_cast<long>(position));
  const auto has_no_row = [&](const Node& node) {
    if (node.kind == NodeKind::kColumn) return true;
    return node.kind == NodeKind::kPayload && std::find(before.begin(), before.end(), node.imm >> 16) != before.end();
  };
  // Other pipelines share the nodes, but they have already run.
  for (Node& node : result.nodes) {
    if (!has_no_row(node)) continue;
    node.imm = null_constant(&result, node.type);
    node.kind = NodeKind::kConst;
  }
  pipeline.quals.clear();
  pipeline.joins.erase(pipeline.joins.begin(), pipeline.joins.begin() + static_cast<long>(position));
  return result;
}

}  // namespace strom::engine::op
