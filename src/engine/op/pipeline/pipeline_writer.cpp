#include "engine/op/pipeline/pipeline_writer.hpp"

#include <array>

namespace strom::engine::op {

using block::kNoRegister;
using block::Segment;
using block::SegmentEnd;
using block::TileOp;
using plan::kNoNode;
using plan::Node;
using plan::NodeId;
using plan::NodeKind;
using plan::Pipeline;
using plan::Program;
using plan::SinkKind;
using registry::Phys;

TileOp function_op(registry::FunctionId id) {
  const registry::FunctionPlace place = registry::kFunctionPlaces[static_cast<size_t>(id)];
  return block::function_op(place.group, place.member);
}

std::vector<NodeId> sink_nodes(const Program& program, uint32_t pipeline) {
  const Pipeline& p = program.pipelines[pipeline];
  std::vector<NodeId> nodes;
  if (p.sink == SinkKind::kProject) {
    nodes = p.outputs;
    nodes.insert(nodes.end(), p.top.checked.begin(), p.top.checked.end());
    nodes.insert(nodes.end(), p.top.partition.begin(), p.top.partition.end());
    if (p.top.rows > 0) nodes.push_back(p.top.key);
    return nodes;
  }
  if (p.sink == SinkKind::kBuild) {
    for (const plan::Join& join : program.joins) {
      if (join.build_pipeline != pipeline) continue;
      nodes = join.inner_keys;
      nodes.insert(nodes.end(), join.payload.begin(), join.payload.end());
    }
    return nodes;
  }
  nodes = p.group_keys;
  for (const plan::Aggregate& a : p.aggregates) {
    if (a.arg != kNoNode) nodes.push_back(a.arg);
    if (a.filter != kNoNode) nodes.push_back(a.filter);
    if (a.second != kNoNode) nodes.push_back(a.second);
  }
  return nodes;
}

PipelineWriter::PipelineWriter(const Program& program, uint32_t pipeline, std::vector<JoinInfo> joins,
                               SourceTraits source)
    : program_(program), index_(pipeline), pipeline_(program.pipelines[pipeline]), source_(source) {
  collect_constants();
  carried_rows_.assign(joins.size(), -1);
  for (size_t i = 0; i < joins.size(); ++i) new_fixed_register(Phys::kI32);
  written_.fixed = static_cast<int>(written_.phys.size());
  out().joins = std::move(joins);
  out().code.single_byte = source.single_byte;
}

// ---- registers and expressions ----

namespace {

plan::PreparedForm form_of_argument(const Node& n, int number) {
  if (n.kind != NodeKind::kCall) return plan::PreparedForm::kNone;
  return plan::prepared_form(static_cast<registry::FunctionId>(n.imm), number);
}

}  // namespace

void PipelineWriter::collect_constants() {
  std::set<std::pair<uint32_t, plan::PreparedForm>> used;
  const auto add_constant = [&](NodeId id, plan::PreparedForm form) {
    if (program_.nodes[id].kind == NodeKind::kConst) used.emplace(program_.nodes[id].imm, form);
  };
  auto add = [&](const std::vector<NodeId>& ids) {
    for (NodeId id : ids) {
      add_constant(id, plan::PreparedForm::kNone);
      plan::visit(program_, id, [&](NodeId, const Node& n) {
        for (int i = 0; i < 3 && n.args[i] != kNoNode; ++i) add_constant(n.args[i], form_of_argument(n, i));
      });
    }
  };
  add(pipeline_.quals);
  add(pipeline_.join_quals);
  for (uint32_t join : pipeline_.joins) {
    add(program_.joins[join].outer_keys);
    add(program_.joins[join].quals);
  }
  add(sink_nodes(program_, index_));
  for (const auto& use : used) {
    constant_register_[use] = static_cast<int>(written_.out.constants.size());
    written_.out.constants.push_back({use.first, use.second});
    written_.phys.push_back(program_.constants[use.first].type.phys());
  }
}

int PipelineWriter::new_register(Phys phys) {
  written_.phys.push_back(phys);
  return static_cast<int>(written_.phys.size()) - 1;
}

int PipelineWriter::new_fixed_register(Phys phys) {
  const int reg = new_register(phys);
  written_.fixed = static_cast<int>(written_.phys.size());
  return reg;
}

VirtualInstr& PipelineWriter::emit(TileOp op, int dst, int a, int b, int c, uint32_t imm) {
  code_.push_back({op, 0, dst, a, b, c, imm, {}, false});
  return code_.back();
}

namespace {

using ArgumentOrder = std::array<int, 3>;

/// The argument that is computed first comes last.
const ArgumentOrder& waiting_order(NodeKind kind) {
  static constexpr ArgumentOrder kFirstToLast{2, 1, 0}, kRestOfCase{1, 0, 2}, kRestOfCoalesce{2, 0, 1};
  return kind == NodeKind::kSelect ? kRestOfCase : kind == NodeKind::kCoalesce ? kRestOfCoalesce : kFirstToLast;
}

}  // namespace

bool PipelineWriter::is_known(NodeId id) const {
  return program_.nodes[id].kind == NodeKind::kConst || values_.count(id) != 0;
}

int PipelineWriter::value(NodeId id) {
  std::vector<NodeId> open{id};  // a stack: an argument is above the nodes that wait for it
  while (!open.empty()) {
    const NodeId next = open.back();
    const Node& n = program_.nodes[next];
    const size_t waiting = open.size();
    // The last one pushed is computed first. The rest of a CASE or COALESCE is computed before its first arguments, so
    // that few values wait for others.
    for (const int i : waiting_order(n.kind))
      if (n.args[i] != kNoNode && !is_known(n.args[i])) open.push_back(n.args[i]);
    if (open.size() > waiting) continue;
    open.pop_back();
    if (!is_known(next)) values_[next] = compute(n);
  }
  const Node& n = program_.nodes[id];
  return n.kind == NodeKind::kConst ? constant_register_.at({n.imm, plan::PreparedForm::kNone}) : values_.at(id);
}

/// Register of an argument that is already computed.
int PipelineWriter::argument(const Node& n, int number) {
  const Node& arg = program_.nodes[n.args[number]];
  if (arg.kind != NodeKind::kConst) return value(n.args[number]);
  return constant_register_.at({arg.imm, form_of_argument(n, number)});
}

int PipelineWriter::compute(const Node& n) {
  if (n.kind == NodeKind::kPayload) return payloads_->payload(n);
  int args[3] = {-1, -1, -1};
  for (int i = 0; i < 3 && n.args[i] != kNoNode; ++i) args[i] = argument(n, i);
  const int reg = new_register(n.type.phys());
  switch (n.kind) {
    case NodeKind::kColumn: emit(TileOp::kLoadColumn, reg, -1, -1, -1, n.imm); break;
    case NodeKind::kCall: {
      const auto function = static_cast<registry::FunctionId>(n.imm);
      VirtualInstr& instr =
          emit(function_op(function), reg, args[0], args[1], args[2],
               n.args[0] == kNoNode ? 0 : static_cast<uint32_t>(program_.nodes[n.args[0]].type.scale));
      if (is_constant(args[1])) instr.flags = block::kConstRight;
      calls_make_text_ |= (registry::function_info(function).traits & registry::kMakesText) != 0;
      break;
    }
    case NodeKind::kRescale:
      emit(TileOp::kRescale, reg, args[0], -1, -1,
           static_cast<uint32_t>(program_.nodes[n.args[0]].type.scale) << 16 | static_cast<uint32_t>(n.type.scale));
      break;
    case NodeKind::kNumericToInt: {
      VirtualInstr& instr = emit(TileOp::kNumericToInt, reg, args[0], -1, -1,
                                 static_cast<uint32_t>(program_.nodes[n.args[0]].type.scale));
      instr.flags = static_cast<uint16_t>(n.type.type);
      break;
    }
    case NodeKind::kNumericToFloat:
      emit(TileOp::kNumericToFloat, reg, args[0], -1, -1, static_cast<uint32_t>(program_.nodes[n.args[0]].type.scale));
      break;
    case NodeKind::kToDecimal:
      emit(TileOp::kToDecimal, reg, args[0], -1, -1, static_cast<uint32_t>(program_.nodes[n.args[0]].type.scale));
      break;
    case NodeKind::kFixDecimal: emit(TileOp::kFixDecimal, reg, args[0], -1, -1, n.imm); break;
    case NodeKind::kAnd: emit(TileOp::kAnd, reg, args[0], args[1]); break;
    case NodeKind::kOr: emit(TileOp::kOr, reg, args[0], args[1]); break;
    case NodeKind::kNot: emit(TileOp::kNot, reg, args[0]); break;
    case NodeKind::kIsNull: emit(TileOp::kIsNull, reg, args[0]); break;
    case NodeKind::kIsNotNull: emit(TileOp::kIsNotNull, reg, args[0]); break;
    case NodeKind::kSelect: emit(TileOp::kSelect, reg, args[0], args[1], args[2]); break;
    case NodeKind::kAssume: emit(TileOp::kAssume, reg, args[0], args[1]); break;
    default: emit(TileOp::kCoalesce, reg, args[0], args[1]); break;
  }
  return reg;
}

int PipelineWriter::aligned_decimal(NodeId id) {
  const int from = value(id), reg = new_register(Phys::kI128);
  emit(TileOp::kAlignDecimal, reg, from);
  return reg;
}

int PipelineWriter::conjunction(const std::vector<NodeId>& quals) {
  int mask = -1;
  for (NodeId qual : quals) {
    const int reg = value(qual);
    if (mask < 0) {
      mask = reg;
      continue;
    }
    const int both = new_register(Phys::kBool);
    emit(TileOp::kAnd, both, mask, reg);
    mask = both;
  }
  return mask;
}

void PipelineWriter::emit_gate(const std::vector<int>& checked) {
  VirtualInstr& gate = emit(TileOp::kGate, -1);
  for (int reg : checked)
    if (!is_constant(reg) ||
        plan::can_be_unheld(program_.constants[written_.out.constants[static_cast<size_t>(reg)].constant]))
      gate.list.push_back(reg);
}

bool PipelineWriter::is_copied(NodeId id) const {
  if (source_.on_device) return node(id).type.phys() == Phys::kStr;
  return !plan::has_stable_text(program_, id, source_.stable);
}

// ---- segments ----

Segment& PipelineWriter::begin_segment(SegmentEnd kind, const std::string& name) {
  Segment segment{};
  segment.kind = kind;
  segment.mask = kNoRegister;
  segment.index = kNoRegister;
  segment.matched = kNoRegister;
  segment.following = kNoRegister;
  written_.out.segments.push_back(segment);
  written_.out.segment_names.push_back(name);
  written_.segments.emplace_back();
  return written_.out.segments.back();
}

void PipelineWriter::end_filter(int mask, std::vector<int> errors, const std::string& name) {
  begin_segment(SegmentEnd::kFilter, name);
  segment().mask = mask;
  segment().errors = std::move(errors);
  end_segment();
}

void PipelineWriter::end_segment() {
  WrittenSegment& ended = segment();
  ended.join_rows = carried_rows_;
  for (const auto& [position, reg] : changed_rows_) carried_rows_[position] = reg;
  changed_rows_.clear();
  ended.carried = carried_rows_;
  ended.carried.insert(ended.carried.end(), also_carried_.begin(), also_carried_.end());
  also_carried_.clear();
  ended.code = std::move(code_);
  code_.clear();
  values_.clear();
}

}  // namespace strom::engine::op
