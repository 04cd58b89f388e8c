#include "engine/op/hash_agg/group_writer.hpp"

#include <algorithm>
#include <map>

namespace strom::engine::op {

using block::AccKind;
using block::AggregateCode;
using block::Grouping;
using block::kNoRegister;
using block::TileOp;
using plan::kNoNode;
using plan::NodeId;
using plan::NodeKind;
using registry::Phys;
using registry::TypeId;

namespace {

/// Most groups whose numbers are computed from codes; more are looked up by hash.
constexpr uint64_t kMostDirectGroups = 1u << 16;

// ---- arguments ----

struct AggregateInput {
  AggregateCode code;
  int reg = -1, second = -1;
};

bool is_best(AccKind acc) { return acc == AccKind::kMin || acc == AccKind::kMax; }

int narrow_sum(PipelineWriter* writer, int reg, Phys phys, AccKind acc) {
  const int narrow = writer->new_register(phys);
  writer->emit(TileOp::kNarrowSum, narrow, reg, -1, -1, static_cast<uint32_t>(acc));
  return narrow;
}

/// Makes the first argument null where the second is null.
void add_second_argument(PipelineWriter* writer, const plan::Aggregate& a, AccKind acc, AggregateInput* input) {
  input->second = writer->value(a.second);
  if (acc == AccKind::kPairMoments) input->second = narrow_sum(writer, input->second, input->code.phys, acc);
  const int present = writer->new_register(Phys::kBool), kept = writer->new_register(input->code.phys);
  writer->emit(TileOp::kIsNotNull, present, input->second);
  writer->emit(TileOp::kKeepWhere, kept, input->reg, present);
  input->reg = kept;
}

void add_argument(PipelineWriter* writer, JoinWriter* joins, const plan::Aggregate& a, AccKind acc,
                  AggregateInput* input) {
  const bool aligned = writer->node(a.arg).type.type == TypeId::kDecimal && acc != AccKind::kCount;
  input->reg = aligned ? writer->aligned_decimal(a.arg) : writer->value(a.arg);
  input->code.phys = writer->node(a.arg).type.phys();
  const Phys phys = input->code.phys;
  if (is_best(acc) && phys == Phys::kStr) input->reg = joins->join_key(a.arg);  // char(n) without its padding
  const bool wide = phys == Phys::kI128 || phys == Phys::kF32 || phys == Phys::kF64;
  const bool sums = acc >= AccKind::kSumI64 && acc <= AccKind::kAvgF64;
  if (wide && (sums || acc == AccKind::kSumSquares || acc == AccKind::kMoments || acc == AccKind::kPairMoments))
    input->reg = narrow_sum(writer, input->reg, phys, acc);
}

AggregateInput write_input(PipelineWriter* writer, JoinWriter* joins, const plan::Aggregate& a) {
  const AccKind acc = registry::aggregate_info(a.id).acc;
  AggregateInput input{{acc, Phys::kBool, kNoRegister, kNoRegister}, -1, -1};
  if (a.arg != kNoNode) add_argument(writer, joins, a, acc, &input);
  if (a.second != kNoNode) add_second_argument(writer, a, acc, &input);
  if (a.filter != kNoNode) {
    const int filter = writer->value(a.filter);
    if (input.reg < 0) {  // count(*) FILTER counts the filter's true values
      input.code = {AccKind::kCount, Phys::kBool, kNoRegister, kNoRegister};
      input.reg = filter;
    }
    const int kept = writer->new_register(input.code.phys);
    writer->emit(TileOp::kKeepWhere, kept, input.reg, filter);
    input.reg = kept;
  }
  // See agg::is_of_decimals().
  if (is_best(acc) && writer->node(a.arg).type.type == TypeId::kDecimal) input.second = input.reg;
  return input;
}

/// True when the accumulator holds a text that has to be copied before the source goes on.
bool is_copied(const PipelineWriter& writer, const plan::Aggregate& a) {
  return is_best(registry::aggregate_info(a.id).acc) && writer.node(a.arg).type.phys() == Phys::kStr &&
         writer.is_copied(a.arg);
}

// ---- groups ----

/// Group keys that come from joined tables are codes. All keys of one table share one code.
class GroupKeys {
 public:
  GroupKeys(PipelineWriter* writer, JoinWriter* joins)
      : writer_(*writer), joins_(*joins), nodes_(writer->pipeline().group_keys) {
    for (const NodeId id : nodes_) add(id);
    for (auto& [position, reg] : codes_) reg = joins_.group_code(position);
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (!sources()[i].coded) values_.push_back(writer_.value(nodes_[i]));
  }

  /// Registers of the keys that are not codes.
  const std::vector<int>& values() const { return values_; }

  /// Decides how groups are found.
  Grouping grouping() const {
    if (nodes_.empty()) return Grouping::kNone;
    return values_.empty() && products_ <= kMostDirectGroups ? Grouping::kDirect : Grouping::kHashed;
  }

  /// Register with the number of each row's group; -1 for a single group.
  int write_slot() {
    Assembly& out = writer_.out();
    out.code.grouping = grouping();
    switch (out.code.grouping) {
      case Grouping::kNone: out.direct_groups = 1; return -1;
      case Grouping::kDirect: return write_direct();
      case Grouping::kHashed: break;
    }
    return write_hashed();
  }

 private:
  std::vector<GroupKeySource>& sources() { return writer_.out().group_keys; }

  void add(NodeId id) {
    GroupKeySource source;
    const plan::Node& n = writer_.node(id);
    const size_t position = n.kind == NodeKind::kPayload ? joins_.position_of(n.imm >> 16) : 0;
    if (n.kind == NodeKind::kPayload && joins_.is_coded(position)) {
      source.coded = true;
      source.join_position = static_cast<uint32_t>(position);
      source.payload = n.imm & 0xffff;
      if (codes_.emplace(source.join_position, -1).second)
        products_ = std::min<uint64_t>(kMostDirectGroups + 1, products_ * code_count(source.join_position));
    }
    sources().push_back(source);
  }

  uint32_t code_count(uint32_t position) const { return std::max(1u, joins_.code_count(position)); }

  int write_direct() {
    writer_.out().direct_groups = static_cast<uint32_t>(products_);
    int slot = -1;
    uint32_t stride = 1;
    for (const auto& [position, code] : codes_) {
      for (GroupKeySource& source : sources())
        if (source.join_position == position) source.stride = stride;
      const int next = writer_.new_register(Phys::kI32);
      writer_.emit(TileOp::kSlotAdd, next, code, slot, -1, stride);
      slot = next;
      stride *= code_count(position);
    }
    return slot;
  }

  int write_hashed() {
    std::vector<int> keys;
    for (const auto& [position, code] : codes_) {
      for (GroupKeySource& source : sources())
        if (source.coded && source.join_position == position) source.key_column = static_cast<uint32_t>(keys.size());
      keys.push_back(code);
    }
    size_t next = 0;
    for (GroupKeySource& source : sources()) {
      if (source.coded) continue;
      source.key_column = static_cast<uint32_t>(keys.size());
      keys.push_back(values_[next++]);
    }
    Assembly& out = writer_.out();
    for (int key : keys) out.key_phys.push_back(writer_.phys(key));
    out.copied_keys.assign(keys.size(), false);
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (!sources()[i].coded) out.copied_keys[sources()[i].key_column] = writer_.is_copied(nodes_[i]);
    const int hash = writer_.new_register(Phys::kI64), slot = writer_.new_register(Phys::kI32);
    writer_.emit(TileOp::kHash, hash).list = keys;
    writer_.emit(TileOp::kFindGroup, slot, hash).list = keys;
    writer_.sink().keys = keys;
    return slot;
  }

  PipelineWriter& writer_;
  JoinWriter& joins_;
  const std::vector<NodeId>& nodes_;
  std::map<uint32_t, int> codes_;  // join position -> register
  std::vector<int> values_;
  uint64_t products_ = 1;  // the product of the numbers of codes, at most kMostDirectGroups + 1
};

}  // namespace

void write_aggregation(PipelineWriter* writer, JoinWriter* joins) {
  const plan::Pipeline& pipeline = writer->pipeline();
  GroupKeys keys(writer, joins);
  Assembly& out = writer->out();
  std::vector<int> checked = keys.values();
  for (const plan::Aggregate& a : pipeline.aggregates) {
    const AggregateInput input = write_input(writer, joins, a);
    out.copied_aggregates.push_back(is_copied(*writer, a));
    if (input.reg >= 0) checked.push_back(input.reg);
    if (input.second >= 0) checked.push_back(input.second);
    out.aggregates.push_back(input.code);
    writer->sink().arguments.push_back(input.reg);
    writer->sink().seconds.push_back(input.second);
  }
  writer->emit_gate(checked);
  const int slot = keys.write_slot();
  writer->begin_segment(block::SegmentEnd::kAggregate, "aggregate");
  writer->segment().mask = slot;
  writer->end_segment();
  out.ordered_groups = out.code.grouping == Grouping::kHashed && !writer->source().on_device &&
                       std::any_of(pipeline.group_keys.begin(), pipeline.group_keys.end(), [writer](NodeId key) {
                         return !registry::is_equal_by_bits(writer->node(key).type.type);
                       });
}

}  // namespace strom::engine::op
