#include "engine/op/join/join_writer.hpp"

#include <algorithm>
#include <set>

namespace strom::engine::op {

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

/// A probe that lets through at most this fraction of rows comes before the filters.
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

// ---- order ----

double rank(const Program& program, const JoinInfo& info) {
  const plan::Join& join = program.joins[info.join];
  const bool filters = join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti;
  const bool tries = !info.build->table().unique || !join.quals.empty();
  return (plan::may_miss(join.kind) ? 1 : info.match_fraction) + (tries ? (filters ? 1 : 2) : 0) +
         info.build->index().probe_cost();
}

bool is_ready(const Program& program, const Pipeline& pipeline, uint32_t join, const std::set<uint32_t>& done) {
  bool ready = true;
  // Build rows that go on by themselves go to later joins, and not to earlier ones.
  for (uint32_t other : pipeline.joins) {
    if (other == join) break;
    if (plan::marks_matches(program.joins[join].kind) || plan::marks_matches(program.joins[other].kind))
      ready = ready && done.count(other) != 0;
  }
  auto check = [&](const std::vector<NodeId>& ids) {
    for (NodeId id : ids)
      plan::visit(program, id, [&](NodeId, const Node& n) {
        if (n.kind == NodeKind::kPayload && n.imm >> 16 != join) ready = ready && done.count(n.imm >> 16) != 0;
      });
  };
  check(program.joins[join].outer_keys);
  check(program.joins[join].quals);
  return ready;
}

}  // namespace

std::vector<JoinInfo> probing_order(const Program& program, uint32_t pipeline, std::vector<JoinInfo> left) {
  std::vector<JoinInfo> ordered;
  std::set<uint32_t> done;
  while (!left.empty()) {
    size_t best = left.size();
    for (size_t i = 0; i < left.size(); ++i) {
      if (!is_ready(program, program.pipelines[pipeline], left[i].join, done)) continue;
      if (best == left.size() || rank(program, left[i]) < rank(program, left[best])) best = i;
    }
    done.insert(left[best].join);
    ordered.push_back(left[best]);
    left.erase(left.begin() + static_cast<long>(best));
  }
  return ordered;
}

JoinWriter::JoinWriter(PipelineWriter* tiles) : tiles_(*tiles) {
  for (size_t i = 0; i < tiles_.out().joins.size(); ++i) {
    const bool tries = !table(i).unique || !join_at(i).quals.empty();
    matched_register_.push_back(may_miss(i) && tries ? tiles_.new_fixed_register(Phys::kBool) : -1);
    const std::optional<Phys> more = index(i).more_phys();
    more_register_.push_back(more ? tiles_.new_fixed_register(*more) : -1);
  }
  tiles_.set_payloads(this);
}

size_t JoinWriter::position_of(uint32_t join) const {
  const std::vector<JoinInfo>& joins = tiles_.out().joins;
  for (size_t i = 0; i < joins.size(); ++i)
    if (joins[i].join == join) return i;
  return 0;
}

// ---- build rows ----

/// True when the key alone decides: a bitmap tells which rows match, and the build row is looked up again wherever it
/// is needed.
bool JoinWriter::is_lookup(size_t position) const {
  return index(position).has_test() && table(position).unique && join_at(position).quals.empty() &&
         !plan::marks_matches(join_at(position).kind);
}

/// Register with the build rows of a probed join: carried, or looked up again from the key.
int JoinWriter::build_rows(size_t position) {
  if (const int carried = tiles_.carried_rows(position); carried >= 0) return carried;
  const auto found = looked_up_.find(position);
  if (found != looked_up_.end() && found->second.segment == tiles_.segment_number()) return found->second.reg;
  const int reg = index(position).write_row(this, position);
  looked_up_[position] = {tiles_.segment_number(), reg};
  return reg;
}

int JoinWriter::payload(const Node& n) {
  const size_t position = position_of(n.imm >> 16);
  const int rows = build_rows(position);
  const int reg = tiles_.new_register(n.type.phys());
  VirtualInstr& load =
      tiles_.emit(TileOp::kLoadPayload, reg, rows, -1, -1, static_cast<uint32_t>(position) << 16 | (n.imm & 0xffff));
  // While matches are sought, some rows may have no candidate.
  if (may_miss(position) || join_at(position).kind == JoinKind::kAnti) load.flags = block::kMayMiss;
  return reg;
}

int JoinWriter::group_code(size_t position) {
  if (is_lookup(position)) return index(position).write_code(this, position);
  const int reg = tiles_.new_register(Phys::kI32);
  const int rows = build_rows(position);
  tiles_.emit(TileOp::kLoadCode, reg, rows, -1, -1, static_cast<uint32_t>(position));
  return reg;
}

int JoinWriter::outer_key(size_t position, size_t key) { return join_key(join_at(position).outer_keys[key]); }

std::vector<int> JoinWriter::outer_keys(size_t position) {
  std::vector<int> keys;
  for (NodeId id : join_at(position).outer_keys) keys.push_back(join_key(id));
  return keys;
}

int JoinWriter::join_key(NodeId id) {
  const int reg = tiles_.value(id);
  if (tiles_.node(id).type.type != TypeId::kBpchar) return reg;
  const int trimmed = tiles_.new_register(Phys::kStr);
  tiles_.emit(function_op(registry::FunctionId::kBpcharToText), trimmed, reg);
  return trimmed;
}

// ---- probes ----

/// A bitmap that few rows pass comes before the filters, because then fewer columns are streamed. It never comes before
/// conjuncts that can fail: their errors count for rows without a match, too.
bool JoinWriter::keys_precede_quals() const {
  if (pipeline().quals.empty() || tiles_.out().joins.empty() || !index(0).has_test()) return false;
  const JoinKind kind = join_at(0).kind;
  if (plan::may_miss(kind) || kind == JoinKind::kAnti) return false;
  if (tiles_.out().joins[0].match_fraction > kSelectiveProbe || !tiles_.out().joins[0].build->partition().is_whole())
    return false;
  if (tiles_.node(join_at(0).outer_keys[0]).kind != NodeKind::kColumn) return false;
  return std::none_of(pipeline().quals.begin(), pipeline().quals.end(),
                      [&](NodeId qual) { return plan::can_raise(tiles_.program(), qual); });
}

/// Drops rows whose key the first join's table does not have.
void JoinWriter::emit_key_filter() {
  const int mask = index(0).write_test(this, 0);
  tiles_.end_filter(mask, {mask}, join_name(0));
}

/// For a pipeline over the rows of its first join's table: keeps the rows that go on by themselves.
void JoinWriter::emit_build_rows() {
  const int rows = tiles_.row_register(0);
  int mask = tiles_.new_register(Phys::kBool);
  tiles_.emit(TileOp::kBuildRow, rows);
  tiles_.emit(TileOp::kIsUnmatched, mask, rows, -1, -1, 0);
  const bool matched = !plan::keeps_unmatched(join_at(0).kind);
  if (matched) {
    const int unmatched = mask;
    mask = tiles_.new_register(Phys::kBool);
    tiles_.emit(TileOp::kIsNotTrue, mask, unmatched);
  }
  tiles_.carry_rows_behind(0, rows);
  tiles_.end_filter(mask, {}, join_name(0) + (matched ? " matched" : " unmatched"));
}

void JoinWriter::emit_partition(const std::vector<NodeId>& key_nodes, Partition partition) {
  if (partition.is_whole()) return;
  std::vector<int> keys;
  keys.reserve(key_nodes.size());
  for (NodeId id : key_nodes) keys.push_back(join_key(id));
  const int hash = tiles_.new_register(Phys::kI64), mask = tiles_.new_register(Phys::kBool);
  tiles_.emit(TileOp::kHash, hash).list = keys;
  VirtualInstr& test = tiles_.emit(TileOp::kInPartition, mask, hash, -1, -1, partition.first << 16 | partition.last);
  test.list = keys;
  test.near_list = true;
  tiles_.end_filter(mask, {}, "partition");
}

void JoinWriter::emit_probe(size_t position) {
  const plan::Join& join = join_at(position);
  const std::string name = join_name(position);
  if (join.spatial == plan::SpatialMatch::kNone) emit_partition(join.outer_keys, info(position).build->partition());
  const bool existence = join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti;
  if (is_lookup(position))
    emit_lookup(position, name);
  else if (existence && join.quals.empty())
    emit_existence(position, name);
  else
    emit_match(position, name);
}

void JoinWriter::emit_lookup(size_t position, const std::string& name) {
  const JoinKind kind = join_at(position).kind;
  if (kind == JoinKind::kLeft) {  // every row goes on; the build row is looked up where it is needed
    tiles_.emit_gate(outer_keys(position));
    return;
  }
  int mask = index(position).write_test(this, position);
  if (kind == JoinKind::kAnti) {
    const int present = mask;
    mask = tiles_.new_register(Phys::kBool);
    tiles_.emit(TileOp::kIsNotTrue, mask, present);
  }
  tiles_.end_filter(mask, {mask}, name);
}

/// Semi and anti joins without quals: the first candidate is a match.
void JoinWriter::emit_existence(size_t position, const std::string& name) {
  int mask = index(position).write_candidates(this, position, tiles_.row_register(position));
  if (join_at(position).kind == JoinKind::kAnti) {
    const int present = mask;
    mask = tiles_.new_register(Phys::kBool);
    tiles_.emit(TileOp::kIsNotTrue, mask, present);
  }
  tiles_.end_filter(mask, {mask}, name);
}

/// Columns of the probing row that the quals refer to. A row with an error in them becomes a fallback row before its
/// candidates are tried.
std::vector<int> JoinWriter::qual_columns(size_t position) {
  std::vector<int> columns;
  for (NodeId qual : join_at(position).quals)
    plan::visit(tiles_.program(), qual, [&](NodeId id, const Node& n) {
      if (n.kind == NodeKind::kColumn) columns.push_back(tiles_.value(id));
    });
  return columns;
}

/// As JoinIndex::write_candidates(), for a join without any match.
int JoinWriter::emit_no_candidate(size_t position, int rows) {
  const int mask = tiles_.new_register(Phys::kBool);
  tiles_.emit(TileOp::kFirstRow, rows, -1, -1, -1, static_cast<uint32_t>(position)).flags = block::kNoMatch;
  tiles_.emit(TileOp::kRowFound, mask, rows);
  return mask;
}

/// All other joins: a segment that finds the first candidate, and one that tries one candidate after another.
void JoinWriter::emit_match(size_t position, const std::string& name) {
  const plan::Join& join = join_at(position);
  const int rows = tiles_.row_register(position);
  const bool drops = !plan::may_miss(join.kind) && join.kind != JoinKind::kAnti;
  const bool marks = plan::marks_matches(join.kind), all_match = join.quals.empty();
  const int found = plan::matches_nothing(tiles_.program(), join)
                        ? emit_no_candidate(position, rows)
                        : index(position).write_candidates(this, position, rows);
  std::vector<int> errors = qual_columns(position);
  errors.push_back(found);
  const int matched = matched_register_[position];
  if (matched >= 0) {
    tiles_.emit(TileOp::kFalse, matched);
    tiles_.carry_behind(matched);
  }
  if (more_register(position) >= 0) tiles_.carry_behind(more_register(position));
  tiles_.carry_rows_behind(position, rows);
  // Where all rows with a key match, marking the first is enough (JoinBuild::mark_same_keys()).
  const bool ends = plan::ends_probing(join.kind);
  const bool one_candidate = all_match && (table(position).unique || ends);
  if (marks && one_candidate) tiles_.emit(TileOp::kMarkMatched, -1, rows, -1, -1, static_cast<uint32_t>(position));
  int mask = drops ? found : -1;
  if (one_candidate && ends) tiles_.emit(TileOp::kFalse, mask = tiles_.new_register(Phys::kBool));
  tiles_.end_filter(mask, errors, name);
  const bool only_expands = match_kind(join.kind) == MatchKind::kInner && all_match;
  if (one_candidate) return;
  mask = only_expands ? -1 : tiles_.conjunction(join.quals);
  const int following = index(position).write_following(this, position, rows);
  if (marks) tiles_.emit(TileOp::kMarkMatched, -1, rows, mask, -1, static_cast<uint32_t>(position));
  Segment& code = tiles_.begin_segment(only_expands ? SegmentEnd::kExpand : SegmentEnd::kMatch,
                                       name + (only_expands ? " duplicates" : " matches"));
  code.match = match_kind(join.kind);
  code.join = static_cast<uint16_t>(position);
  tiles_.segment().mask = mask;
  tiles_.segment().index = rows;
  tiles_.segment().matched = matched;
  tiles_.segment().following = following;
  if (join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti) tiles_.carry_rows_behind(position, -1);
  tiles_.end_segment();
}

// ---- needs ----

namespace {

/// All expressions of a pipeline after its filters, except group keys.
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
  needs.spatial = self.spatial;
  needs.srid = self.srid;
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

}  // namespace strom::engine::op
