// Joins of a pipeline as tile code: their order, and how each kind of table is probed.
#include <algorithm>

#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::exec {

using block::JoinTableKind;
using block::MatchKind;
using block::Segment;
using block::SegmentEnd;
using block::TileOp;
using plan::JoinKind;
using plan::Node;
using plan::NodeId;
using plan::NodeKind;
using plan::Pipeline;
using plan::Program;
using plan::SinkKind;
using registry::Phys;
using registry::TypeId;

namespace {

/// Fraction of rows that a probe lets through to be done before the filters.
constexpr double kSelectiveProbe = 0.05;

MatchKind match_kind(JoinKind kind) {
  switch (kind) {
    case JoinKind::kInner:
    case JoinKind::kRight: return MatchKind::kInner;
    case JoinKind::kLeft:
    case JoinKind::kFull: return MatchKind::kLeft;
    case JoinKind::kSemi: return MatchKind::kSemi;
    case JoinKind::kAnti: return MatchKind::kAnti;
    case JoinKind::kRightSemi:
    case JoinKind::kRightAnti: return MatchKind::kNone;
  }
  return MatchKind::kInner;
}

}  // namespace

// ---- order ----

/// Most selective first, as far as expressions allow that depend on earlier joins' payload; joins that multiply rows
/// last. Joins whose build rows do not go on by themselves decide about each row alone, so that those that do not
/// depend on each other commute.
void PipelineWriter::order_joins(const std::vector<JoinInfo>& joins) {
  std::vector<JoinInfo> left = joins;
  std::set<uint32_t> done;
  while (!left.empty()) {
    size_t best = left.size();
    for (size_t i = 0; i < left.size(); ++i) {
      if (!is_ready(left[i].join, done)) continue;
      if (best == left.size() || rank(left[i]) < rank(left[best])) best = i;
    }
    done.insert(left[best].join);
    written_.out.joins.push_back(left[best]);
    left.erase(left.begin() + static_cast<long>(best));
  }
}

double PipelineWriter::rank(const JoinInfo& info) const {
  const plan::Join& join = program_.joins[info.join];
  const bool filters = join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti;
  const bool tries = !info.build->table().unique || !join.quals.empty();
  return (plan::may_miss(join.kind) ? 1 : info.match_fraction) + (tries ? (filters ? 1 : 2) : 0) +
         (info.build->table().kind == JoinTableKind::kHash ? 0.5 : 0) + (join.outer_keys.empty() ? 2 : 0);
}

bool PipelineWriter::is_ready(uint32_t join, const std::set<uint32_t>& done) const {
  bool ready = true;
  // Build rows that go on by themselves go to the joins behind, and not to those before.
  for (uint32_t other : pipeline_.joins) {
    if (other == join) break;
    if (plan::marks_matches(program_.joins[join].kind) || plan::marks_matches(program_.joins[other].kind))
      ready = ready && done.count(other) != 0;
  }
  auto check = [&](const std::vector<NodeId>& ids) {
    for (NodeId id : ids)
      plan::visit(program_, id, [&](NodeId, const Node& n) {
        if (n.kind == NodeKind::kPayload && n.imm >> 16 != join) ready = ready && done.count(n.imm >> 16) != 0;
      });
  };
  check(program_.joins[join].outer_keys);
  check(program_.joins[join].quals);
  return ready;
}

void PipelineWriter::add_join_registers() {
  for (size_t i = 0; i < written_.out.joins.size(); ++i) {
    row_register_.push_back(-1);
    written_.phys.push_back(Phys::kI32);
  }
  for (size_t i = 0; i < written_.out.joins.size(); ++i) {
    const bool tries = !table(i).unique || !join_at(i).quals.empty();
    matched_register_.push_back(may_miss(i) && tries ? new_register(Phys::kBool) : -1);
  }
  written_.fixed = static_cast<int>(written_.phys.size());
}

size_t PipelineWriter::position_of(uint32_t join) const {
  for (size_t i = 0; i < written_.out.joins.size(); ++i)
    if (written_.out.joins[i].join == join) return i;
  return 0;
}

// ---- build rows ----

/// The key alone says everything: a bitmap decides, the build row is looked up again wherever it is needed.
bool PipelineWriter::is_lookup(size_t position) const {
  return table(position).kind == JoinTableKind::kDirect && table(position).unique && join_at(position).quals.empty() &&
         !plan::marks_matches(join_at(position).kind);
}

/// Register with the build rows of a probed join: carried, or looked up again from the key.
int PipelineWriter::build_rows(size_t position) {
  if (row_register_[position] >= 0) return row_register_[position];
  if (auto found = looked_up_.find(position); found != looked_up_.end()) return found->second;
  const int key = direct_key(position);
  const int reg = new_register(Phys::kI32);
  emit(TileOp::kLookupIndex, reg, key, -1, -1, static_cast<uint32_t>(position));
  return looked_up_[position] = reg;
}

int PipelineWriter::payload(const Node& n) {
  const size_t position = position_of(n.imm >> 16);
  const int rows = build_rows(position);
  const int reg = new_register(n.type.phys());
  VirtualInstr& load =
      emit(TileOp::kLoadPayload, reg, rows, -1, -1, static_cast<uint32_t>(position) << 16 | (n.imm & 0xffff));
  // While matches are looked for, a row without a candidate may be among the others.
  if (may_miss(position) || join_at(position).kind == JoinKind::kAnti) load.flags = block::kMayMiss;
  return reg;
}

int PipelineWriter::group_code(size_t position) {
  const int reg = new_register(Phys::kI32);
  if (is_lookup(position)) {
    const int key = direct_key(position);
    emit(TileOp::kLookupCode, reg, key, -1, -1, static_cast<uint32_t>(position));
  } else {
    const int rows = build_rows(position);
    emit(TileOp::kLoadCode, reg, rows, -1, -1, static_cast<uint32_t>(position));
  }
  return reg;
}

int PipelineWriter::join_key(NodeId id) {
  const int reg = value(id);
  if (program_.nodes[id].type.type != TypeId::kBpchar) return reg;
  const int trimmed = new_register(Phys::kStr);
  emit(function_op(registry::FunctionId::kBpcharToText), trimmed, reg);
  return trimmed;
}

// ---- probes ----

/// A bitmap that few rows pass is worth more than the filters: fewer columns are streamed. Not past conjuncts that
/// can fail, whose errors count for rows without a match, too.
bool PipelineWriter::keys_precede_quals() const {
  if (pipeline_.quals.empty() || written_.out.joins.empty() || table(0).kind != JoinTableKind::kDirect) return false;
  const JoinKind kind = join_at(0).kind;
  if (plan::may_miss(kind) || kind == JoinKind::kAnti) return false;
  if (written_.out.joins[0].match_fraction > kSelectiveProbe || !written_.out.joins[0].build->partition().is_whole())
    return false;
  if (program_.nodes[join_at(0).outer_keys[0]].kind != NodeKind::kColumn) return false;
  return std::none_of(pipeline_.quals.begin(), pipeline_.quals.end(),
                      [&](NodeId qual) { return plan::can_raise(program_, qual); });
}

/// Drops rows whose key the first join's table does not have.
void PipelineWriter::emit_key_filter() {
  const int mask = new_register(Phys::kBool);
  emit(TileOp::kProbeDirect, mask, direct_key(0), -1, -1, 0);
  end_filter(mask, {mask}, join_name(0));
}

/// Of a pipeline over the rows of its first join's table: those that go on by themselves.
void PipelineWriter::emit_build_rows() {
  const int rows = join_row_register(0);
  int mask = new_register(Phys::kBool);
  emit(TileOp::kBuildRow, rows);
  emit(TileOp::kIsUnmatched, mask, rows, -1, -1, 0);
  const bool matched = !plan::keeps_unmatched(join_at(0).kind);
  if (matched) {
    const int unmatched = mask;
    mask = new_register(Phys::kBool);
    emit(TileOp::kIsNotTrue, mask, unmatched);
  }
  rows_carried_behind(0, rows);
  end_filter(mask, {}, join_name(0) + (matched ? " matched" : " unmatched"));
}

void PipelineWriter::emit_partition(const std::vector<NodeId>& key_nodes, Partition partition) {
  if (partition.is_whole()) return;
  std::vector<int> keys;
  for (NodeId id : key_nodes) keys.push_back(join_key(id));
  const int hash = new_register(Phys::kI64), mask = new_register(Phys::kBool);
  emit(TileOp::kHash, hash).list = keys;
  emit(TileOp::kInPartition, mask, hash, -1, -1, partition.first << 16 | partition.last).list = keys;
  end_filter(mask, {}, "partition");
}

void PipelineWriter::emit_probe(size_t position) {
  const plan::Join& join = join_at(position);
  const std::string name = join_name(position);
  emit_partition(join.outer_keys, info(position).build->partition());
  const bool existence = join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti;
  if (is_lookup(position))
    emit_lookup(position, name);
  else if (existence && join.quals.empty())
    emit_existence(position, name);
  else
    emit_match(position, name);
}

void PipelineWriter::emit_lookup(size_t position, const std::string& name) {
  const int key = direct_key(position);
  const JoinKind kind = join_at(position).kind;
  if (kind == JoinKind::kLeft) {  // every row goes on, and who needs the build row looks it up
    emit_gate({key});
    return;
  }
  int mask = new_register(Phys::kBool);
  emit(TileOp::kProbeDirect, mask, key, -1, -1, static_cast<uint32_t>(position));
  if (kind == JoinKind::kAnti) {
    const int present = mask;
    mask = new_register(Phys::kBool);
    emit(TileOp::kIsNotTrue, mask, present);
  }
  end_filter(mask, {mask}, name);
}

/// First candidate of each row in register `rows`, kNoRow when it has none. Returns a mask that is true where there is
/// one, with the errors of the keys.
int PipelineWriter::emit_candidates(size_t position, int rows) {
  const int mask = new_register(Phys::kBool);
  const std::vector<NodeId>& key_nodes = join_at(position).outer_keys;
  if (key_nodes.empty()) {
    emit(TileOp::kFirstRow, rows, -1, -1, -1, static_cast<uint32_t>(position));
    emit(TileOp::kRowFound, mask, rows);
  } else if (table(position).kind == JoinTableKind::kDirect) {
    const int key = direct_key(position);
    emit(TileOp::kProbeDirect, mask, key, -1, -1, static_cast<uint32_t>(position));
    emit(TileOp::kLookupIndex, rows, key, -1, -1, static_cast<uint32_t>(position));
  } else {
    std::vector<int> keys;
    for (NodeId id : key_nodes) keys.push_back(join_key(id));
    const int hash = new_register(Phys::kI64);
    emit(TileOp::kHash, hash).list = keys;
    emit(TileOp::kProbeHash, rows, hash, -1, -1, static_cast<uint32_t>(position)).list = keys;
    emit(TileOp::kRowFound, mask, rows);
  }
  return mask;
}

/// Semi and anti joins without quals: the first candidate is a match.
void PipelineWriter::emit_existence(size_t position, const std::string& name) {
  int mask = emit_candidates(position, join_row_register(position));
  if (join_at(position).kind == JoinKind::kAnti) {
    const int present = mask;
    mask = new_register(Phys::kBool);
    emit(TileOp::kIsNotTrue, mask, present);
  }
  end_filter(mask, {mask}, name);
}

/// Columns of the probing row that the quals refer to: a row with an error in them becomes a fallback row before its
/// candidates are tried.
std::vector<int> PipelineWriter::qual_columns(size_t position) {
  std::vector<int> columns;
  for (NodeId qual : join_at(position).quals)
    plan::visit(program_, qual, [&](NodeId id, const Node& n) {
      if (n.kind == NodeKind::kColumn) columns.push_back(value(id));
    });
  return columns;
}

/// All others: a segment that finds the first candidate, and one that tries one after the other.
void PipelineWriter::emit_match(size_t position, const std::string& name) {
  const plan::Join& join = join_at(position);
  const int rows = join_row_register(position);
  const bool drops = !plan::may_miss(join.kind) && join.kind != JoinKind::kAnti;
  const bool marks = plan::marks_matches(join.kind), all_match = join.quals.empty();
  const int found = emit_candidates(position, rows);
  std::vector<int> errors = qual_columns(position);
  errors.push_back(found);
  const int matched = matched_register_[position];
  if (matched >= 0) {
    emit(TileOp::kFalse, matched);
    also_carried_.push_back(matched);
  }
  rows_carried_behind(position, rows);
  // Where all rows with a key match, marking the first is enough (JoinBuild::mark_same_keys()).
  const bool ends = plan::ends_probing(join.kind);
  const bool one_candidate = all_match && (table(position).unique || ends);
  if (marks && one_candidate) emit(TileOp::kMarkMatched, -1, rows, -1, -1, static_cast<uint32_t>(position));
  int mask = drops ? found : -1;
  if (one_candidate && ends) emit(TileOp::kFalse, mask = new_register(Phys::kBool));
  end_filter(mask, errors, name);
  const bool only_expands = match_kind(join.kind) == MatchKind::kInner && all_match;
  if (one_candidate) return;
  mask = only_expands ? -1 : conjunction(join.quals);
  if (marks) emit(TileOp::kMarkMatched, -1, rows, mask, -1, static_cast<uint32_t>(position));
  Segment& code = begin_segment(only_expands ? SegmentEnd::kExpand : SegmentEnd::kMatch,
                                name + (only_expands ? " duplicates" : " matches"));
  code.match = match_kind(join.kind);
  code.join = static_cast<uint16_t>(position);
  segment().mask = mask;
  segment().index = rows;
  segment().matched = matched;
  if (join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti) rows_carried_behind(position, -1);
  end_segment();
}

// ---- needs ----

namespace {

/// All expressions of a pipeline behind its filters, but for group keys.
std::vector<NodeId> expressions_but_group_keys(const Program& program, uint32_t index) {
  const Pipeline& pipeline = program.pipelines[index];
  std::vector<NodeId> ids = sink_nodes(program, index);
  if (pipeline.sink == SinkKind::kAggregate)
    ids.erase(ids.begin(), ids.begin() + static_cast<long>(pipeline.group_keys.size()));
  const auto add = [&ids](const std::vector<NodeId>& more) { ids.insert(ids.end(), more.begin(), more.end()); };
  add(pipeline.join_quals);
  for (const uint32_t join : pipeline.joins) {
    add(program.joins[join].outer_keys);
    add(program.joins[join].quals);
  }
  return ids;
}

bool reads_payload(const Program& program, NodeId id, uint32_t join) {
  bool reads = false;
  plan::visit(program, id,
              [&](NodeId, const Node& n) { reads |= n.kind == NodeKind::kPayload && n.imm >> 16 == join; });
  return reads;
}

}  // namespace

JoinNeeds join_needs(const Program& program, uint32_t join) {
  JoinNeeds needs;
  const plan::Join& self = program.joins[join];
  const bool existence = self.kind == JoinKind::kSemi || self.kind == JoinKind::kAnti;
  needs.any_match = existence && self.quals.empty();
  needs.matches = plan::marks_matches(self.kind);
  needs.rows = needs.matches || !self.quals.empty();
  for (uint32_t index = 0; index < program.pipelines.size(); ++index) {
    const Pipeline& p = program.pipelines[index];
    if (std::find(p.joins.begin(), p.joins.end(), join) == p.joins.end()) continue;
    for (const NodeId id : expressions_but_group_keys(program, index)) needs.rows |= reads_payload(program, id, join);
    for (const NodeId id : p.group_keys) {
      const Node& n = program.nodes[id];
      const uint32_t column = n.imm & 0xffff;
      std::vector<uint32_t>& grouped = needs.group_columns;
      if (n.kind != NodeKind::kPayload || plan::may_miss(self.kind))
        needs.rows |= reads_payload(program, id, join);
      else if (n.imm >> 16 == join && std::find(grouped.begin(), grouped.end(), column) == grouped.end())
        grouped.push_back(column);
    }
  }
  return needs;
}

}  // namespace strom::engine::exec
