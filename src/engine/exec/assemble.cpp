#include "engine/exec/assemble.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "engine/agg/accumulate.hpp"
#include "engine/block/row_order.hpp"
#include "engine/exec/group_table.hpp"
#include "engine/exec/pipeline_writer.hpp"
#include "engine/plan/errors.hpp"

namespace strom::engine::exec {

using block::AccKind;
using block::AggregateCode;
using block::kNoRegister;
using block::ListRef;
using block::Segment;
using block::SegmentEnd;
using block::TileInstr;
using block::TileOp;
using plan::kNoNode;
using plan::Node;
using plan::NodeId;
using plan::NodeKind;
using plan::Program;
using plan::SinkKind;
using registry::Phys;

namespace {

/// Group slots that are computed from codes rather than hashed.
constexpr uint64_t kMaxDenseGroups = 1u << 16;
constexpr size_t kOwnAlign = 16;  // of the arrays of a block's own accumulators

class Assembler : private PipelineWriter {
 public:
  Assembler(const Program& program, uint32_t pipeline, const std::vector<JoinInfo>& joins, Partition partition,
            SourceTraits source, bool of_build_rows)
      : PipelineWriter(program, pipeline, joins, source.single_byte),
        partition_(partition),
        stable_text_(source.stable),
        late_(source.late),
        on_device_(source.on_device),
        of_build_rows_(of_build_rows) {}

  Result<Assembly> run() {
    size_t early = 0;
    if (of_build_rows_) {
      emit_build_rows();
      early = 1;
    } else if (keys_precede_quals()) {
      early = is_lookup(0) ? 1 : 0;
      if (early != 0)
        emit_probe(0);
      else
        emit_key_filter();
    }
    emit_quals();
    for (size_t position = early; position < out_.joins.size(); ++position) emit_probe(position);
    for (NodeId qual : pipeline_.join_quals) emit_qual_segment({qual}, "join filter");
    emit_sink();
    finish();
    if (too_large_) return Status(ErrorCode::kInternal, "engine program needs too many registers");
    return std::move(out_);
  }

 private:
  void emit_qual_segment(const std::vector<NodeId>& quals, const std::string& name) {
    const int mask = conjunction(quals);
    end_filter(mask, {mask}, name);
  }

  /// A conjunct that can be an error in PostgreSQL stays where it is in PostgreSQL's order: none behind it may drop a
  /// row that PostgreSQL would have evaluated it for, and none before it may leave one.
  void emit_quals() {
    std::vector<NodeId> stretch;
    for (NodeId qual : pipeline_.quals) {
      if (!plan::can_be_an_error(program_, qual)) {
        stretch.push_back(qual);
        continue;
      }
      emit_stretch(std::exchange(stretch, {}));
      emit_qual_segment({qual}, "filter");
    }
    emit_stretch(stretch);
  }

  /// Conjuncts that are always evaluated here go together over dense tiles, behind them those over numerics that are
  /// yet to be converted, then those over text that may have to be inflated; those that may leave rows to PostgreSQL
  /// follow one by one.
  void emit_stretch(const std::vector<NodeId>& stretch) {
    std::vector<NodeId> safe, numeric, packed, risky;
    for (NodeId qual : stretch)
      (plan::can_raise(program_, qual) ? risky
       : reads_late(qual, Phys::kStr)  ? packed
       : reads_late(qual, Phys::kI128) ? numeric
                                       : safe)
          .push_back(qual);
    for (const auto& quals : {safe, numeric, packed})
      if (!quals.empty()) emit_qual_segment(quals, "filter");
    for (NodeId qual : risky) emit_qual_segment({qual}, "filter");
  }

  /// Of columns of that kind, whose loading takes time.
  bool reads_late(NodeId id, Phys phys) const {
    bool reads = false;
    if (late_)
      plan::visit(program_, id,
                  [&](NodeId, const Node& n) { reads |= n.kind == NodeKind::kColumn && n.type.phys() == phys; });
    return reads;
  }

  /// Arrays are equal when their elements are.
  static bool may_differ_where_equal(registry::TypeId type) {
    return !registry::is_equal_by_bits(type) || type == registry::TypeId::kArray;
  }

  /// The sink's texts have to be copied before their source goes on.
  bool is_copied(NodeId id) const {
    if (on_device_) return program_.nodes[id].type.phys() == Phys::kStr;
    return !plan::has_stable_text(program_, id, stable_text_);
  }

  // ---- sinks ----

  void emit_sink() {
    if (pipeline_.sink == SinkKind::kAggregate) {
      emit_aggregate();
      return;
    }
    const bool top = pipeline_.sink == SinkKind::kProject && pipeline_.top.rows > 0;
    if (top) emit_top();
    std::vector<int> outputs;
    std::vector<NodeId> nodes = sink_nodes(program_, index_);
    if (top) {  // with more columns than the program has, for the worker alone
      nodes = pipeline_.outputs;
      nodes.insert(nodes.end(), pipeline_.top.partition.begin(), pipeline_.top.partition.end());
    }
    size_t keys = 0;
    if (pipeline_.sink == SinkKind::kBuild)
      for (const plan::Join& join : program_.joins)
        if (join.build_pipeline == index_) keys = join.inner_keys.size();
    emit_partition({nodes.begin(), nodes.begin() + static_cast<long>(keys)}, partition_);
    for (size_t i = 0; i < nodes.size(); ++i) {
      outputs.push_back(i < keys ? join_key(nodes[i]) : value(nodes[i]));
      out_.output_phys.push_back(program_.nodes[nodes[i]].type.phys());
      out_.copied_outputs.push_back(is_copied(nodes[i]));
    }
    if (top) {
      outputs.push_back(order_key());
      out_.output_phys.push_back(Phys::kI64);
      out_.copied_outputs.push_back(false);
    }
    emit_gate(outputs);
    begin_segment(SegmentEnd::kOutput, pipeline_.sink == SinkKind::kBuild ? "build" : "projection");
    sink_outputs_ = outputs;
    end_segment();
  }

  /// Drops rows that are not among the first ones; of partitions the worker does that when the rows are handed over.
  void emit_top() {
    const bool of_all = pipeline_.top.partition.empty();
    const int place = of_all ? order_key() : -1;
    std::vector<int> checked;
    if (of_all) checked.push_back(place);
    for (NodeId id : pipeline_.top.checked) checked.push_back(value(id));
    if (!checked.empty()) emit_gate(checked);
    if (!of_all) return;
    const int mask = new_register(Phys::kBool);
    emit(TileOp::kWithinTop, mask, place);
    end_filter(mask, {mask}, "top rows");
  }

  /// Register with the rows' places in the order of which the first ones are wanted.
  int order_key() {
    const plan::TopRows& top = pipeline_.top;
    const bool aligned = program_.nodes[top.key].type.type == registry::TypeId::kDecimal;
    const int key = aligned ? aligned_decimal(top.key) : value(top.key);
    const int place = new_register(Phys::kI64);
    emit(TileOp::kOrderKey, place, key, -1, -1,
         (top.descending ? block::kOrderDescending : 0) | (top.nulls_first ? block::kOrderNullsFirst : 0) |
             (aligned ? block::kOrderUpper : 0));
    return place;
  }

  /// Register with decimals as accumulators and orders take them.
  int aligned_decimal(NodeId id) {
    const int from = value(id), reg = new_register(Phys::kI128);
    emit(TileOp::kAlignDecimal, reg, from);
    return reg;
  }

  struct AggregateInput {
    AggregateCode code;
    int reg = -1, second = -1;
  };

  int narrow_sum(int reg, Phys phys, AccKind acc) {
    const int narrow = new_register(phys);
    emit(TileOp::kNarrowSum, narrow, reg, -1, -1, static_cast<uint32_t>(acc));
    return narrow;
  }

  /// The first argument becomes null where the second is.
  void add_second_argument(const plan::Aggregate& a, AccKind acc, AggregateInput* input) {
    input->second = value(a.second);
    if (acc == AccKind::kPairMoments) input->second = narrow_sum(input->second, input->code.phys, acc);
    const int present = new_register(Phys::kBool), kept = new_register(input->code.phys);
    emit(TileOp::kIsNotNull, present, input->second);
    emit(TileOp::kKeepWhere, kept, input->reg, present);
    input->reg = kept;
  }

  AggregateInput aggregate_input(const plan::Aggregate& a) {
    const auto& info = registry::aggregate_info(a.id);
    AggregateInput input{{info.acc, Phys::kBool, kNoRegister, kNoRegister}, -1, -1};
    if (a.arg != kNoNode) {
      const bool aligned = program_.nodes[a.arg].type.type == registry::TypeId::kDecimal && info.acc != AccKind::kCount;
      input.reg = aligned ? aligned_decimal(a.arg) : value(a.arg);
      input.code.phys = program_.nodes[a.arg].type.phys();
      const bool by_order = info.acc == AccKind::kMin || info.acc == AccKind::kMax;
      if (by_order && input.code.phys == Phys::kStr) input.reg = join_key(a.arg);  // char(n) without its padding
      const bool wide =
          input.code.phys == Phys::kI128 || input.code.phys == Phys::kF32 || input.code.phys == Phys::kF64;
      const bool sums = info.acc >= AccKind::kSumI64 && info.acc <= AccKind::kAvgF64;
      if (wide && (sums || info.acc == AccKind::kSumSquares || info.acc == AccKind::kMoments ||
                   info.acc == AccKind::kPairMoments)) {
        input.reg = narrow_sum(input.reg, input.code.phys, info.acc);
      }
    }
    if (a.second != kNoNode) add_second_argument(a, info.acc, &input);
    if (a.filter == kNoNode) return input;
    const int filter = value(a.filter);
    if (input.reg < 0) {  // count(*) FILTER counts the filter's true values
      input.code = {AccKind::kCount, Phys::kBool, kNoRegister, kNoRegister};
      input.reg = filter;
    }
    const int kept = new_register(input.code.phys);
    emit(TileOp::kKeepWhere, kept, input.reg, filter);
    input.reg = kept;
    return input;
  }

  /// See agg::is_of_decimals().
  bool is_best_of_decimals(const plan::Aggregate& a) const {
    const AccKind acc = registry::aggregate_info(a.id).acc;
    return (acc == AccKind::kMin || acc == AccKind::kMax) &&
           program_.nodes[a.arg].type.type == registry::TypeId::kDecimal;
  }

  bool keeps_value(const plan::Aggregate& a) const {
    const AccKind acc = registry::aggregate_info(a.id).acc;
    return (acc == AccKind::kMin || acc == AccKind::kMax) && program_.nodes[a.arg].type.phys() == Phys::kStr;
  }

  void emit_aggregate() {
    std::vector<int> keys, checked;
    std::map<uint32_t, int> codes;  // join position -> register
    uint64_t dense = 1;
    bool all_coded = true;
    for (NodeId id : pipeline_.group_keys) {
      GroupKeySource source;
      const Node& n = program_.nodes[id];
      if (n.kind == NodeKind::kPayload && is_coded(position_of(n.imm >> 16))) {
        source.coded = true;
        source.join_position = static_cast<uint32_t>(position_of(n.imm >> 16));
        source.payload = n.imm & 0xffff;
        if (codes.emplace(source.join_position, -1).second)
          dense = std::min<uint64_t>(
              kMaxDenseGroups + 1, dense * std::max<uint64_t>(1, out_.joins[source.join_position].build->code_count()));
      } else {
        all_coded = false;
      }
      out_.group_keys.push_back(source);
    }
    for (auto& [position, reg] : codes) reg = group_code(position);
    for (size_t i = 0; i < pipeline_.group_keys.size(); ++i)
      if (!out_.group_keys[i].coded) {
        keys.push_back(value(pipeline_.group_keys[i]));
        checked.push_back(keys.back());
      }
    std::vector<AggregateInput> inputs;
    for (const plan::Aggregate& a : pipeline_.aggregates) {
      inputs.push_back(aggregate_input(a));
      if (is_best_of_decimals(a)) inputs.back().second = inputs.back().reg;
      out_.copied_aggregates.push_back(keeps_value(a) && is_copied(a.arg));
      if (inputs.back().reg >= 0) checked.push_back(inputs.back().reg);
      if (inputs.back().second >= 0) checked.push_back(inputs.back().second);
    }
    emit_gate(checked);
    const bool is_dense = all_coded && dense <= kMaxDenseGroups;
    const int slot = is_dense ? dense_slot(codes, dense) : hashed_slot(codes, keys);
    begin_segment(SegmentEnd::kAggregate, "aggregate");
    segment_mask_.back() = slot;
    for (AggregateInput& input : inputs) {
      out_.aggregates.push_back(input.code);
      sink_aggregates_.push_back(input.reg);
      sink_seconds_.push_back(input.second);
    }
    end_segment();
  }

  int dense_slot(const std::map<uint32_t, int>& codes, uint64_t groups) {
    out_.dense_groups = static_cast<uint32_t>(groups);
    int slot = -1;
    uint32_t stride = 1;
    for (const auto& [position, code] : codes) {
      for (GroupKeySource& source : out_.group_keys)
        if (source.join_position == position) source.stride = stride;
      const int next = new_register(Phys::kI32);
      emit(TileOp::kSlotAdd, next, code, slot, -1, stride);
      slot = next;
      stride *= std::max(1u, out_.joins[position].build->code_count());
    }
    return slot;
  }

  int hashed_slot(const std::map<uint32_t, int>& codes, const std::vector<int>& plain) {
    std::vector<int> keys;
    for (const auto& [position, code] : codes) {
      for (GroupKeySource& source : out_.group_keys)
        if (source.coded && source.join_position == position) source.key_column = static_cast<uint32_t>(keys.size());
      keys.push_back(code);
    }
    size_t next = 0;
    for (GroupKeySource& source : out_.group_keys) {
      if (source.coded) continue;
      source.key_column = static_cast<uint32_t>(keys.size());
      keys.push_back(plain[next++]);
    }
    for (int key : keys) out_.key_phys.push_back(phys_[static_cast<size_t>(key)]);
    out_.copied_keys.assign(keys.size(), false);
    for (size_t i = 0; i < out_.group_keys.size(); ++i)
      if (!out_.group_keys[i].coded)
        out_.copied_keys[out_.group_keys[i].key_column] = is_copied(pipeline_.group_keys[i]);
    const int hash = new_register(Phys::kI64), slot = new_register(Phys::kI32);
    emit(TileOp::kHash, hash).list = keys;
    emit(TileOp::kFindGroup, slot, hash).list = keys;
    sink_keys_ = keys;
    return slot;
  }

  // ---- register allocation ----

  ListRef add_list(const std::vector<int>& virtual_registers) {
    const ListRef ref = static_cast<ListRef>(out_.lists.size());
    too_large_ = too_large_ || virtual_registers.size() >= kNoRegister;
    out_.lists.push_back(static_cast<uint16_t>(virtual_registers.size()));
    for (int reg : virtual_registers) out_.lists.push_back(physical(reg));
    return ref;
  }

  /// For `imm` of the instruction that comes next.
  ListRef add_instruction_list(const std::vector<int>& virtual_registers) {
    list_users_.push_back(out_.instrs.size());
    return add_list(virtual_registers);
  }

  /// For a field of 16 bits.
  uint16_t add_near_list(const std::vector<int>& virtual_registers) {
    const size_t place = near_lists_.size();
    too_large_ = too_large_ || place > UINT16_MAX;
    near_lists_.push_back(static_cast<uint16_t>(virtual_registers.size()));
    for (int reg : virtual_registers) near_lists_.push_back(physical(reg));
    return static_cast<uint16_t>(place);
  }

  /// Puts the lists that 16 bits refer to before all others.
  void join_lists() {
    const auto moved = static_cast<ListRef>(near_lists_.size());
    out_.lists.insert(out_.lists.begin(), near_lists_.begin(), near_lists_.end());
    for (const size_t instr : list_users_) out_.instrs[instr].imm += moved;
    for (Segment& segment : out_.segments) {
      segment.errors += moved;
      segment.carried += moved;
      segment.join_rows += moved;
    }
    out_.code.outputs += moved;
    out_.code.group_keys += moved;
  }

  uint16_t physical(int reg) const {
    if (reg < 0) return kNoRegister;
    if (reg < fixed_) return static_cast<uint16_t>(reg);
    return assigned_.at(reg);
  }

  std::vector<int> end_uses(size_t segment) const {
    std::vector<int> used = segment_errors_[segment];
    used.push_back(segment_mask_[segment]);
    if (segment + 1 == out_.segments.size()) {
      used.insert(used.end(), sink_outputs_.begin(), sink_outputs_.end());
      used.insert(used.end(), sink_aggregates_.begin(), sink_aggregates_.end());
      used.insert(used.end(), sink_seconds_.begin(), sink_seconds_.end());
    }
    return used;
  }

  /// Instructions of a segment, by the last of which a register is used; the end of the segment for those behind it.
  std::unordered_map<int, size_t> last_uses(size_t segment) const {
    const std::vector<VirtualInstr>& code = segment_code_[segment];
    std::unordered_map<int, size_t> last_use;
    for (size_t i = 0; i < code.size(); ++i) {
      for (int reg : {code[i].a, code[i].b, code[i].c}) last_use[reg] = i;
      for (int reg : code[i].list) last_use[reg] = i;
      if (code[i].dst >= 0) last_use.try_emplace(code[i].dst, i);
    }
    for (int reg : end_uses(segment)) last_use[reg] = code.size();
    return last_use;
  }

  /// Linear scan over one segment; pools are per physical kind, and a result never shares its operands' register.
  void allocate(size_t segment) {
    std::vector<VirtualInstr>& code = segment_code_[segment];
    const std::unordered_map<int, size_t> last_use = last_uses(segment);
    std::map<Phys, std::vector<uint16_t>> pool = free_;
    std::set<int> live;
    out_.segments[segment].begin = static_cast<uint32_t>(out_.instrs.size());
    for (size_t i = 0; i < code.size(); ++i) {
      const VirtualInstr& v = code[i];
      if (v.dst >= fixed_) {
        assigned_[v.dst] = take(&pool, phys_[static_cast<size_t>(v.dst)]);
        live.insert(v.dst);
      }
      out_.instrs.push_back(instruction(v, segment, i, live, last_use));
      std::set<int> ended{v.dst, v.a, v.b, v.c};
      ended.insert(v.list.begin(), v.list.end());
      for (const int reg : ended)
        if (live.count(reg) != 0 && last_use.at(reg) <= i) {
          live.erase(reg);
          pool[phys_[static_cast<size_t>(reg)]].push_back(assigned_[reg]);
        }
    }
    out_.segments[segment].end = static_cast<uint32_t>(out_.instrs.size());
  }

  /// Instruction `place` of the segment, with its lists.
  TileInstr instruction(const VirtualInstr& v, size_t segment, size_t place, const std::set<int>& live,
                        const std::unordered_map<int, size_t>& last_use) {
    TileInstr instr{
        static_cast<uint16_t>(v.op), v.flags, physical(v.dst), physical(v.a), physical(v.b), physical(v.c), v.imm};
    if (v.op == TileOp::kNumericToInt) {
      instr.c = v.flags;
      instr.flags = 0;
    }
    if (v.op == TileOp::kGate) {
      std::vector<int> alive;
      for (const int reg : live)
        if (last_use.at(reg) > place) alive.push_back(reg);
      for (int reg : segment_join_rows(segment)) alive.push_back(reg);
      instr.imm = add_instruction_list(v.list);
      instr.c = add_near_list(alive);
    } else if (v.op == TileOp::kProbeHash || v.op == TileOp::kInPartition) {
      instr.c = add_near_list(v.list);
    } else if (!v.list.empty()) {
      instr.imm = add_instruction_list(v.list);
    }
    return instr;
  }

  std::vector<int> segment_join_rows(size_t segment) const {
    std::vector<int> regs;
    for (int reg : segment_join_rows_[segment])
      if (reg >= 0) regs.push_back(reg);
    return regs;
  }

  uint16_t take(std::map<Phys, std::vector<uint16_t>>* pool, Phys phys) {
    std::vector<uint16_t>& free = (*pool)[phys];
    if (!free.empty()) {
      const uint16_t reg = free.back();
      free.pop_back();
      return reg;
    }
    too_large_ = too_large_ || out_.register_phys.size() >= kNoRegister;
    const uint16_t reg = static_cast<uint16_t>(out_.register_phys.size());
    out_.register_phys.push_back(static_cast<uint8_t>(phys));
    free_[phys].push_back(reg);  // later segments may use it
    return reg;
  }

  void finish() {
    too_large_ = fixed_ >= kNoRegister;
    for (int i = 0; i < fixed_; ++i) out_.register_phys.push_back(static_cast<uint8_t>(phys_[static_cast<size_t>(i)]));
    for (size_t i = 0; i < out_.segments.size(); ++i) {
      allocate(i);
      Segment& segment = out_.segments[i];
      segment.mask = physical(segment_mask_[i]);
      segment.index = physical(segment_index_[i]);
      segment.matched = physical(segment_matched_[i]);
      segment.errors = add_list(segment_errors_[i]);
      std::vector<int> carried;
      for (int reg : segment_carried_[i])
        if (reg >= 0) carried.push_back(reg);
      segment.carried = add_list(carried);
      segment.join_rows = planner_order(segment_join_rows_[i]);
      if (i + 1 < out_.segments.size()) continue;
      out_.code.outputs = add_list(sink_outputs_);
      out_.code.group_keys = add_list(sink_keys_);
      for (size_t a = 0; a < sink_aggregates_.size(); ++a) {
        out_.aggregates[a].arg = physical(sink_aggregates_[a]);
        out_.aggregates[a].second = physical(sink_seconds_[a]);
      }
    }
    join_lists();
    block::TileCode& code = out_.code;
    code.instrs = out_.instrs.data();
    code.segments = out_.segments.data();
    code.lists = out_.lists.data();
    code.aggregates = out_.aggregates.data();
    code.register_phys = out_.register_phys.data();
    lay_out_own_groups();
    code.own_arrays = out_.own_arrays.data();
    code.segment_count = static_cast<uint32_t>(out_.segments.size());
    code.aggregate_count = static_cast<uint32_t>(out_.aggregates.size());
    code.join_count = static_cast<uint32_t>(out_.joins.size());
    code.hashed_groups =
        pipeline_.sink == SinkKind::kAggregate && !pipeline_.group_keys.empty() && out_.dense_groups == 0;
    out_.ordered_groups = code.hashed_groups && !on_device_ &&
                          std::any_of(pipeline_.group_keys.begin(), pipeline_.group_keys.end(), [this](NodeId key) {
                            return may_differ_where_equal(program_.nodes[key].type.type);
                          });
    if (out_.ordered_groups || depends_on_order(out_)) keep_order();
    code.makes_text = calls_make_text_ || std::any_of(out_.instrs.begin(), out_.instrs.end(),
                                                      [this](const TileInstr& i) { return inflates_text(i); });
    auto copied = [](const std::vector<bool>& columns) {
      return std::find(columns.begin(), columns.end(), true) != columns.end();
    };
    code.keeps_text =
        code.makes_text && (copied(out_.copied_outputs) || copied(out_.copied_keys) || copied(out_.copied_aggregates));
  }

  /// One table's rows reach the sink as the source has them.
  void keep_order() {
    if (!out_.joins.empty() || on_device_) return;
    for (Segment& segment : out_.segments)
      if (segment.kind == SegmentEnd::kFilter) segment.join = block::kKeepsOrder;
  }

  /// As many groups as a block's own memory can hold, where all of their accumulators can be in it.
  void lay_out_own_groups() {
    out_.own_arrays.resize(out_.aggregates.size());
    if (pipeline_.sink != SinkKind::kAggregate ||
        !std::all_of(out_.aggregates.begin(), out_.aggregates.end(), agg::is_shareable))
      return;
    size_t group_bytes = sizeof(uint32_t);
    for (size_t a = 0; a < out_.aggregates.size(); ++a) {
      out_.own_arrays[a].value_bytes = agg::accumulator_size(out_.aggregates[a]);
      out_.own_arrays[a].identity = accumulator_identity(out_.aggregates[a]);
      group_bytes += sizeof(uint32_t) + static_cast<size_t>(out_.own_arrays[a].value_bytes);
    }
    const bool is_hashed = out_.dense_groups == 0 && !pipeline_.group_keys.empty();
    size_t groups = platform::kOwnBytes / group_bytes;
    if (!is_hashed) groups = std::min<size_t>(groups, std::max(1u, out_.dense_groups));
    while (groups > 0 && place_own_arrays(groups) > platform::kOwnBytes) --groups;
    out_.code.own_groups = static_cast<uint32_t>(groups);
    out_.code.own_bytes = place_own_arrays(groups);
  }

  /// Returns what so many groups take.
  uint32_t place_own_arrays(size_t groups) {
    size_t used = 0;
    const auto take = [&](size_t item) {
      const size_t at = used;
      used += (groups * item + kOwnAlign - 1) / kOwnAlign * kOwnAlign;
      return static_cast<uint32_t>(at);
    };
    take(sizeof(uint32_t));
    for (block::OwnArrays& own : out_.own_arrays) {
      own.nulls = take(sizeof(uint32_t));
      own.values = take(static_cast<size_t>(own.value_bytes));
    }
    return static_cast<uint32_t>(used);
  }

  bool inflates_text(const TileInstr& instr) const {
    return instr.op == static_cast<uint16_t>(TileOp::kLoadColumn) && late_ &&
           static_cast<Phys>(out_.register_phys[instr.dst]) == Phys::kStr;
  }

  /// Build-row registers by the joins' order in the pipeline rather than the probing order.
  ListRef planner_order(const std::vector<int>& by_position) {
    std::vector<int> ordered;
    for (uint32_t join : pipeline_.joins) ordered.push_back(by_position[position_of(join)]);
    return add_list(ordered);
  }

  const Partition partition_;
  const bool stable_text_, late_, on_device_, of_build_rows_;
  std::vector<int> sink_outputs_, sink_aggregates_, sink_seconds_, sink_keys_;
  std::unordered_map<int, uint16_t> assigned_;
  std::map<Phys, std::vector<uint16_t>> free_;
  std::vector<uint16_t> near_lists_;
  std::vector<size_t> list_users_;  // instructions that refer to a list by `imm`
  bool too_large_ = false;          // there are not as many numbers as registers, or entries of a list
};

}  // namespace

bool depends_on_order(const Assembly& assembly) {
  return std::any_of(assembly.aggregates.begin(), assembly.aggregates.end(), [](const AggregateCode& aggregate) {
    const bool of_floats = aggregate.phys == Phys::kF32 || aggregate.phys == Phys::kF64;
    const bool is_best = aggregate.acc == AccKind::kMin || aggregate.acc == AccKind::kMax;
    return aggregate.acc == AccKind::kSumF32 || aggregate.acc == AccKind::kMinSpan ||
           aggregate.acc == AccKind::kMaxSpan || (is_best && of_floats) || agg::is_of_decimals(aggregate);
  });
}

Result<Assembly> assemble(const Program& program, uint32_t pipeline, const std::vector<JoinInfo>& joins,
                          Partition partition, SourceTraits source, bool of_build_rows) {
  return Assembler(program, pipeline, joins, partition, source, of_build_rows).run();
}

}  // namespace strom::engine::exec
