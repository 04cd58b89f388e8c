#include "engine/exec/needed_sides.hpp"

#include <algorithm>

#include "engine/plan/errors.hpp"

namespace strom::engine::exec {

using plan::JoinKind;
using plan::Node;
using plan::NodeId;
using plan::NodeKind;
using plan::Pipeline;
using plan::Program;

NeededSides::NeededSides(const Program& program) : unreached_(program.pipelines.back().joins.size()) {
  for (const uint32_t join : program.pipelines.back().joins) {
    const plan::Join& one = program.joins[join];
    sides_.push_back({join, one.kind, plan::matches_nothing(program, one), false});
  }
}

size_t NeededSides::place_of(uint32_t join) const {
  size_t place = 0;
  while (place < sides_.size() && sides_[place].join != join) ++place;
  return place;
}

void NeededSides::set_empty(uint32_t join) {
  if (const size_t place = place_of(join); place < sides_.size()) sides_[place].is_empty = true;
}

void NeededSides::set_reached(uint32_t join, bool is_reached) {
  const size_t place = place_of(join);
  if (is_reached)
    reached_ = std::max(reached_, place + 1);
  else
    unreached_ = std::min(unreached_, place);
}

/// True when no probing row gets past the join, nor affects which rows do.
bool NeededSides::stops(const Side& side) {
  return !plan::may_miss(side.kind) && side.kind != JoinKind::kAnti && (side.is_empty || side.matches_nothing);
}

/// True when rows of the inner side go on by themselves.
bool NeededSides::emits(const Side& side) { return plan::keeps_unmatched(side.kind) && !side.is_empty; }

bool NeededSides::is_needed(uint32_t join) const {
  const size_t place = place_of(join);
  if (place == sides_.size()) return true;
  if (std::any_of(sides_.begin() + static_cast<long>(place) + 1, sides_.end(), stops)) return false;
  if (emits(sides_[place])) return true;
  bool gets_there = true;
  for (size_t i = 0; i < place; ++i)
    gets_there = (gets_there && i != unreached_ && !stops(sides_[i])) || emits(sides_[i]);
  return gets_there && place != unreached_ && !stops(sides_[place]);
}

bool NeededSides::depends_on_reach(uint32_t join) const {
  const size_t place = place_of(join);
  return place < sides_.size() && place >= reached_ && !plan::marks_matches(sides_[place].kind);
}

bool NeededSides::is_outer_needed() const {
  return unreached_ == sides_.size() && std::none_of(sides_.begin(), sides_.end(), stops);
}

namespace {

bool reads_only(const Program& program, NodeId id, const std::vector<uint32_t>& joins) {
  bool is_known = true;
  plan::visit(program, id, [&](NodeId, const Node& n) {
    const bool is_payload = n.kind == NodeKind::kPayload;
    is_known = is_known && (!is_payload || std::find(joins.begin(), joins.end(), n.imm >> 16) != joins.end());
  });
  return is_known;
}

}  // namespace

Program rows_before_join(const Program& program, size_t place) {
  Program result = program;
  const Pipeline& whole = program.pipelines.back();
  Pipeline& pipeline = result.pipelines.back();
  pipeline = {};
  pipeline.source = whole.source;
  pipeline.quals = whole.quals;
  pipeline.joins.assign(whole.joins.begin(), whole.joins.begin() + static_cast<long>(place));
  for (const NodeId qual : whole.join_quals)
    if (reads_only(program, qual, pipeline.joins)) pipeline.join_quals.push_back(qual);
  const plan::ValueType type{registry::TypeId::kBool, 0};
  Node row;
  row.kind = NodeKind::kConst;
  row.type = type;
  row.imm = static_cast<uint32_t>(result.constants.size());
  result.constants.push_back({type, false, -1, std::string(1, '\1')});
  pipeline.outputs.push_back(static_cast<NodeId>(result.nodes.size()));
  result.nodes.push_back(row);
  return result;
}

bool can_fail(const Program& program, uint32_t index) {
  const auto fails = [&program](const std::vector<NodeId>& ids) {
    return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return plan::can_be_an_error(program, id); });
  };
  if (fails(program.pipelines[index].quals)) return true;
  for (const plan::Join& join : program.joins)
    if (join.build_pipeline == index && (fails(join.inner_keys) || fails(join.payload))) return true;
  return false;
}

}  // namespace strom::engine::exec
