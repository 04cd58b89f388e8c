#include "engine/exec/assemble.hpp"

#include <algorithm>
#include <map>
#include <set>

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
using plan::Pipeline;
using plan::Program;
using plan::SinkKind;
using registry::Phys;
using registry::TypeId;

namespace {

/// Fraction of rows that a probe lets through to be done before the filters.
constexpr double kSelectiveProbe = 0.05;

/// Group slots that are computed from codes rather than hashed.
constexpr uint64_t kMaxDenseGroups = 1u << 16;

template <class F>
void visit(const Program& program, NodeId id, F&& f) {
  const Node& n = program.nodes[id];
  f(id, n);
  for (NodeId arg : n.args)
    if (arg != kNoNode) visit(program, arg, f);
}

std::vector<NodeId> sink_nodes(const Program& program, uint32_t pipeline) {
  const Pipeline& p = program.pipelines[pipeline];
  std::vector<NodeId> nodes;
  if (p.sink == SinkKind::kProject) {
    nodes = p.outputs;
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
  }
  return nodes;
}

/// An instruction whose registers are virtual: numbers below `Assembler::fixed_` are registers already.
struct VirtualInstr {
  TileOp op;
  uint16_t flags = 0;
  int dst = -1, a = -1, b = -1, c = -1;
  uint32_t imm = 0;
  std::vector<int> list;     // goes to imm (kHash, kFindGroup, kGate) or c (kProbeHash)
};

class Assembler {
 public:
  Assembler(const Program& program, uint32_t pipeline, const std::vector<JoinInfo>& joins, bool single_byte,
            bool stable_text)
      : program_(program), index_(pipeline), pipeline_(program.pipelines[pipeline]), stable_text_(stable_text) {
    order_joins(joins);
    collect_constants();
    for (size_t i = 0; i < pipeline_.joins.size(); ++i) row_register_.push_back(-1);
    out_.code.single_byte = single_byte;
  }

  Assembly run() {
    const size_t early = probe_precedes_quals() ? 1 : 0;
    if (early != 0) emit_probe(0);
    emit_quals();
    for (size_t position = early; position < out_.joins.size(); ++position) emit_probe(position);
    for (NodeId qual : pipeline_.join_quals) emit_qual_segment({qual}, "join filter");
    emit_sink();
    finish();
    return std::move(out_);
  }

 private:
  // ---- order ----

  /// Most selective first, as far as keys allow that depend on earlier joins' payload; joins that multiply rows last.
  void order_joins(const std::vector<JoinInfo>& joins) {
    std::vector<JoinInfo> left = joins;
    std::set<uint32_t> done;
    while (!left.empty()) {
      size_t best = left.size();
      for (size_t i = 0; i < left.size(); ++i) {
        if (!keys_available(left[i].join, done)) continue;
        if (best == left.size() || rank(left[i]) < rank(left[best])) best = i;
      }
      done.insert(left[best].join);
      out_.joins.push_back(left[best]);
      left.erase(left.begin() + static_cast<long>(best));
    }
  }

  static double rank(const JoinInfo& info) {
    return info.match_fraction + (info.build->table().unique ? 0 : 2) +
           (info.build->table().kind == block::JoinTableKind::kHash ? 0.5 : 0);
  }

  bool keys_available(uint32_t join, const std::set<uint32_t>& done) const {
    bool available = true;
    for (NodeId key : program_.joins[join].outer_keys)
      visit(program_, key, [&](NodeId, const Node& n) {
        if (n.kind == NodeKind::kPayload) available = available && done.count(n.imm >> 16) != 0;
      });
    return available;
  }

  // ---- registers ----

  void collect_constants() {
    std::set<uint32_t> used;
    auto add = [&](NodeId id) {
      visit(program_, id, [&](NodeId, const Node& n) {
        if (n.kind == NodeKind::kConst) used.insert(n.imm);
      });
    };
    for (NodeId id : pipeline_.quals) add(id);
    for (NodeId id : pipeline_.join_quals) add(id);
    for (uint32_t join : pipeline_.joins)
      for (NodeId id : program_.joins[join].outer_keys) add(id);
    for (NodeId id : sink_nodes(program_, index_)) add(id);
    for (uint32_t constant : used) {
      constant_register_[constant] = static_cast<int>(out_.constants.size());
      out_.constants.push_back(constant);
      phys_.push_back(program_.constants[constant].type.phys());
    }
    fixed_ = static_cast<int>(out_.constants.size()) + static_cast<int>(pipeline_.joins.size());
    for (size_t i = 0; i < pipeline_.joins.size(); ++i) phys_.push_back(Phys::kI32);  // rows of joins
  }

  int join_row_register(size_t position) const { return static_cast<int>(out_.constants.size() + position); }
  bool is_constant(int reg) const { return reg >= 0 && reg < static_cast<int>(out_.constants.size()); }

  int new_register(Phys phys) {
    phys_.push_back(phys);
    return static_cast<int>(phys_.size()) - 1;
  }

  VirtualInstr& emit(TileOp op, int dst, int a = -1, int b = -1, int c = -1, uint32_t imm = 0) {
    code_.push_back({op, 0, dst, a, b, c, imm, {}});
    return code_.back();
  }

  // ---- expressions ----

  /// Register with the value of node `id` in the segment being made.
  int value(NodeId id) {
    const Node& n = program_.nodes[id];
    if (n.kind == NodeKind::kConst) return constant_register_.at(n.imm);
    if (auto found = values_.find(id); found != values_.end()) return found->second;
    int reg;
    switch (n.kind) {
      case NodeKind::kColumn:
        reg = new_register(n.type.phys());
        emit(TileOp::kLoadColumn, reg, -1, -1, -1, n.imm);
        break;
      case NodeKind::kPayload: reg = payload(n); break;
      default: reg = compute(n);
    }
    values_[id] = reg;
    return reg;
  }

  int payload(const Node& n) {
    const size_t position = position_of(n.imm >> 16);
    const int rows = build_rows(position);
    const int reg = new_register(n.type.phys());
    emit(TileOp::kLoadPayload, reg, rows, -1, -1, static_cast<uint32_t>(position) << 16 | (n.imm & 0xffff));
    return reg;
  }

  int compute(const Node& n) {
    int args[3] = {-1, -1, -1};
    for (int i = 0; i < 3 && n.args[i] != kNoNode; ++i) args[i] = value(n.args[i]);
    const int reg = new_register(n.type.phys());
    switch (n.kind) {
      case NodeKind::kCall: {
        VirtualInstr& instr =
            emit(static_cast<TileOp>(static_cast<uint32_t>(TileOp::kFirstFunction) + n.imm), reg, args[0], args[1], args[2],
                 n.args[0] == kNoNode ? 0 : static_cast<uint32_t>(program_.nodes[n.args[0]].type.scale));
        if (is_constant(args[1])) instr.flags = block::kConstRight;
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
      case NodeKind::kAnd: emit(TileOp::kAnd, reg, args[0], args[1]); break;
      case NodeKind::kOr: emit(TileOp::kOr, reg, args[0], args[1]); break;
      case NodeKind::kNot: emit(TileOp::kNot, reg, args[0]); break;
      case NodeKind::kIsNull: emit(TileOp::kIsNull, reg, args[0]); break;
      case NodeKind::kIsNotNull: emit(TileOp::kIsNotNull, reg, args[0]); break;
      case NodeKind::kSelect: emit(TileOp::kSelect, reg, args[0], args[1], args[2]); break;
      default: emit(TileOp::kCoalesce, reg, args[0], args[1]); break;
    }
    return reg;
  }

  // ---- joins ----

  size_t position_of(uint32_t join) const {
    for (size_t i = 0; i < out_.joins.size(); ++i)
      if (out_.joins[i].join == join) return i;
    return 0;
  }

  const block::JoinTable& table(size_t position) const { return out_.joins[position].build->table(); }
  bool direct_unique(size_t position) const {
    return table(position).kind == block::JoinTableKind::kDirect && table(position).unique;
  }

  /// Key register of a join with an integer key.
  int direct_key(size_t position) { return value(key_nodes(position)[0]); }

  const std::vector<NodeId>& key_nodes(size_t position) const { return program_.joins[out_.joins[position].join].outer_keys; }

  /// Register with the build rows of a probed join: carried, or looked up again from the key.
  int build_rows(size_t position) {
    if (row_register_[position] >= 0) return row_register_[position];
    if (auto found = looked_up_.find(position); found != looked_up_.end()) return found->second;
    const int key = direct_key(position);
    const int reg = new_register(Phys::kI32);
    emit(TileOp::kLookupIndex, reg, key, -1, -1, static_cast<uint32_t>(position));
    return looked_up_[position] = reg;
  }

  /// Register with the group code of a probed join.
  int group_code(size_t position) {
    const int reg = new_register(Phys::kI32);
    if (direct_unique(position)) {
      const int key = direct_key(position);
      emit(TileOp::kLookupCode, reg, key, -1, -1, static_cast<uint32_t>(position));
    } else {
      const int rows = build_rows(position);
      emit(TileOp::kLoadCode, reg, rows, -1, -1, static_cast<uint32_t>(position));
    }
    return reg;
  }

  /// char(n) keys compare without their padding.
  int join_key(NodeId id) {
    const int reg = value(id);
    if (program_.nodes[id].type.type != TypeId::kBpchar) return reg;
    const int trimmed = new_register(Phys::kStr);
    emit(static_cast<TileOp>(static_cast<int>(TileOp::kFirstFunction) + static_cast<int>(registry::FunctionId::kBpcharToText)),
         trimmed, reg);
    return trimmed;
  }

  /// A bitmap that few rows pass is worth more than the filters: fewer columns are streamed. Not past conjuncts that
  /// can fail, whose errors count for rows without a match, too.
  bool probe_precedes_quals() const {
    if (pipeline_.quals.empty() || out_.joins.empty() || !direct_unique(0)) return false;
    if (out_.joins[0].match_fraction > kSelectiveProbe) return false;
    if (program_.nodes[key_nodes(0)[0]].kind != NodeKind::kColumn) return false;
    return std::none_of(pipeline_.quals.begin(), pipeline_.quals.end(),
                        [&](NodeId qual) { return plan::can_raise(program_, qual); });
  }

  void emit_probe(size_t position) {
    const std::string name = "join " + std::to_string(out_.joins[position].join + 1);
    if (direct_unique(position)) {
      const int key = direct_key(position);
      const int mask = new_register(Phys::kBool);
      emit(TileOp::kProbeDirect, mask, key, -1, -1, static_cast<uint32_t>(position));
      end_filter(mask, {mask}, name);
      return;
    }
    const int rows = join_row_register(position);
    std::vector<int> errors;
    int mask;
    if (table(position).kind == block::JoinTableKind::kDirect) {
      const int key = direct_key(position);
      mask = new_register(Phys::kBool);
      emit(TileOp::kProbeDirect, mask, key, -1, -1, static_cast<uint32_t>(position));
      emit(TileOp::kLookupIndex, rows, key, -1, -1, static_cast<uint32_t>(position));
    } else {
      std::vector<int> keys;
      for (NodeId id : key_nodes(position)) keys.push_back(join_key(id));
      const int hash = new_register(Phys::kI64);
      emit(TileOp::kHash, hash).list = keys;
      VirtualInstr& probe = emit(TileOp::kProbeHash, rows, hash, -1, -1, static_cast<uint32_t>(position));
      probe.list = keys;
      mask = new_register(Phys::kBool);
      emit(TileOp::kRowFound, mask, rows);
    }
    pending_row_register_ = static_cast<int>(position);
    end_filter(mask, {mask}, name);
    if (!table(position).unique) {
      Segment& segment = begin_segment(SegmentEnd::kExpand, name + " duplicates");
      segment.join = static_cast<uint16_t>(position);
      segment_index_register_.back() = rows;
      end_segment();
    }
  }

  // ---- segments ----

  Segment& begin_segment(SegmentEnd kind, const std::string& name) {
    Segment segment{};
    segment.kind = kind;
    segment.mask = kNoRegister;
    segment.index = kNoRegister;
    out_.segments.push_back(segment);
    out_.segment_names.push_back(name);
    segment_mask_.push_back(-1);
    segment_index_register_.push_back(-1);
    segment_errors_.emplace_back();
    return out_.segments.back();
  }

  void end_filter(int mask, std::vector<int> errors, const std::string& name) {
    begin_segment(SegmentEnd::kFilter, name);
    segment_mask_.back() = mask;
    segment_errors_.back() = std::move(errors);
    end_segment();
  }

  /// Closes the segment: its code, and what it hands on. Values computed in it are not carried (columns are loaded
  /// again for the rows that are left); build rows of joins are.
  void end_segment() {
    segment_join_rows_.push_back(row_register_);
    if (pending_row_register_ >= 0) {
      row_register_[static_cast<size_t>(pending_row_register_)] =
          join_row_register(static_cast<size_t>(pending_row_register_));
      pending_row_register_ = -1;
    }
    segment_carried_.push_back(row_register_);
    segment_code_.push_back(std::move(code_));
    code_.clear();
    values_.clear();
    looked_up_.clear();
  }

  void emit_qual_segment(const std::vector<NodeId>& quals, const std::string& name) {
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
    end_filter(mask, {mask}, name);
  }

  /// Conjuncts that cannot fail go together over dense tiles; the others follow one by one in PostgreSQL's order, so
  /// that an error is seen only where PostgreSQL would have come to it.
  void emit_quals() {
    std::vector<NodeId> safe, risky;
    for (NodeId qual : pipeline_.quals) (plan::can_raise(program_, qual) ? risky : safe).push_back(qual);
    if (!safe.empty()) emit_qual_segment(safe, "filter");
    for (NodeId qual : risky) emit_qual_segment({qual}, "filter");
  }

  // ---- sinks ----

  void emit_gate(const std::vector<int>& checked) {
    VirtualInstr& gate = emit(TileOp::kGate, -1);
    for (int reg : checked)
      if (!is_constant(reg)) gate.list.push_back(reg);
  }

  void emit_sink() {
    if (pipeline_.sink == SinkKind::kAggregate) {
      emit_aggregate();
      return;
    }
    const bool top = pipeline_.sink == SinkKind::kProject && pipeline_.top.rows > 0;
    if (top) {
      const int place = order_key();
      const int mask = new_register(Phys::kBool);
      emit(TileOp::kWithinTop, mask, place);
      end_filter(mask, {mask}, "top rows");
    }
    std::vector<int> outputs;
    std::vector<NodeId> nodes = sink_nodes(program_, index_);
    if (top) nodes.pop_back();
    size_t keys = 0;
    if (pipeline_.sink == SinkKind::kBuild)
      for (const plan::Join& join : program_.joins)
        if (join.build_pipeline == index_) keys = join.inner_keys.size();
    for (size_t i = 0; i < nodes.size(); ++i) {
      outputs.push_back(i < keys ? join_key(nodes[i]) : value(nodes[i]));
      out_.output_phys.push_back(program_.nodes[nodes[i]].type.phys());
      out_.copied_outputs.push_back(!plan::has_stable_text(program_, nodes[i], stable_text_));
    }
    if (top) {  // one more column than the program has, for the worker alone
      outputs.push_back(order_key());
      out_.output_phys.push_back(Phys::kI64);
      out_.copied_outputs.push_back(false);
    }
    emit_gate(outputs);
    begin_segment(SegmentEnd::kOutput, pipeline_.sink == SinkKind::kBuild ? "build" : "projection");
    sink_outputs_ = outputs;
    end_segment();
  }

  /// Register with the rows' places in the order of which the first ones are wanted.
  int order_key() {
    const plan::TopRows& top = pipeline_.top;
    const int key = value(top.key);
    const int place = new_register(Phys::kI64);
    emit(TileOp::kOrderKey, place, key, -1, -1,
         (top.descending ? block::kOrderDescending : 0) | (top.nulls_first ? block::kOrderNullsFirst : 0));
    return place;
  }

  struct AggregateInput {
    AggregateCode code;
    int reg = -1;
  };

  AggregateInput aggregate_input(const plan::Aggregate& a) {
    const auto& info = registry::aggregate_info(a.id);
    AggregateInput input{{info.acc, Phys::kBool, kNoRegister}, -1};
    if (a.arg != kNoNode) {
      input.reg = value(a.arg);
      input.code.phys = program_.nodes[a.arg].type.phys();
      const bool wide = input.code.phys == Phys::kI128 || input.code.phys == Phys::kF32 || input.code.phys == Phys::kF64;
      const bool sums = info.acc >= AccKind::kSumI64 && info.acc <= AccKind::kAvgF64;
      if (wide && (sums || info.acc == AccKind::kSumSquares || info.acc == AccKind::kMoments)) {
        const int narrow = new_register(input.code.phys);
        emit(TileOp::kNarrowSum, narrow, input.reg, -1, -1, static_cast<uint32_t>(info.acc));
        input.reg = narrow;
      }
    }
    if (a.filter == kNoNode) return input;
    const int filter = value(a.filter);
    if (input.reg < 0) {  // count(*) FILTER counts the filter's true values
      input.code = {AccKind::kCount, Phys::kBool, kNoRegister};
      input.reg = filter;
    }
    const int kept = new_register(input.code.phys);
    emit(TileOp::kKeepWhere, kept, input.reg, filter);
    input.reg = kept;
    return input;
  }

  void emit_aggregate() {
    std::vector<int> keys, checked;
    std::map<uint32_t, int> codes;  // join position -> register
    uint64_t dense = 1;
    bool all_coded = true;
    for (NodeId id : pipeline_.group_keys) {
      GroupKeySource source;
      const Node& n = program_.nodes[id];
      if (n.kind == NodeKind::kPayload) {
        source.coded = true;
        source.join_position = static_cast<uint32_t>(position_of(n.imm >> 16));
        source.payload = n.imm & 0xffff;
        if (codes.emplace(source.join_position, -1).second)
          dense = std::min<uint64_t>(kMaxDenseGroups + 1, dense * std::max<uint64_t>(1, out_.joins[source.join_position].build->code_count()));
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
      if (inputs.back().reg >= 0) checked.push_back(inputs.back().reg);
    }
    emit_gate(checked);
    const bool is_dense = all_coded && dense <= kMaxDenseGroups;
    const int slot = is_dense ? dense_slot(codes, dense) : hashed_slot(codes, keys);
    begin_segment(SegmentEnd::kAggregate, "aggregate");
    segment_mask_.back() = slot;
    for (AggregateInput& input : inputs) {
      out_.aggregates.push_back(input.code);
      sink_aggregates_.push_back(input.reg);
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
        out_.copied_keys[out_.group_keys[i].key_column] =
            !plan::has_stable_text(program_, pipeline_.group_keys[i], stable_text_);
    const int hash = new_register(Phys::kI64), slot = new_register(Phys::kI32);
    emit(TileOp::kHash, hash).list = keys;
    emit(TileOp::kFindGroup, slot, hash).list = keys;
    sink_keys_ = keys;
    return slot;
  }

  // ---- register allocation ----

  ListRef add_list(const std::vector<int>& virtual_registers) {
    const ListRef ref = static_cast<ListRef>(out_.lists.size());
    out_.lists.push_back(static_cast<uint16_t>(virtual_registers.size()));
    for (int reg : virtual_registers) out_.lists.push_back(physical(reg));
    return ref;
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
    }
    return used;
  }

  /// Linear scan over one segment; pools are per physical kind, and a result never shares its operands' register.
  void allocate(size_t segment) {
    std::vector<VirtualInstr>& code = segment_code_[segment];
    std::map<int, size_t> last_use;
    for (size_t i = 0; i < code.size(); ++i) {
      for (int reg : {code[i].a, code[i].b, code[i].c}) last_use[reg] = i;
      for (int reg : code[i].list) last_use[reg] = i;
      if (code[i].dst >= 0) last_use.try_emplace(code[i].dst, i);
    }
    for (int reg : end_uses(segment)) last_use[reg] = code.size();
    std::map<Phys, std::vector<uint16_t>> pool = free_;
    std::map<int, bool> live;
    out_.segments[segment].begin = static_cast<uint32_t>(out_.instrs.size());
    for (size_t i = 0; i < code.size(); ++i) {
      VirtualInstr& v = code[i];
      if (v.dst >= fixed_) {
        assigned_[v.dst] = take(&pool, phys_[static_cast<size_t>(v.dst)]);
        live[v.dst] = true;
      }
      TileInstr instr{static_cast<uint16_t>(v.op), v.flags,        physical(v.dst), physical(v.a),
                      physical(v.b),               physical(v.c), v.imm};
      if (v.op == TileOp::kNumericToInt) {
        instr.c = v.flags;
        instr.flags = 0;
      }
      if (v.op == TileOp::kGate) {
        std::vector<int> alive;
        for (const auto& [reg, is_live] : live)
          if (is_live && last_use[reg] > i) alive.push_back(reg);
        for (int reg : segment_join_rows(segment)) alive.push_back(reg);
        instr.imm = add_list(v.list);
        instr.c = static_cast<uint16_t>(add_list(alive));
      } else if (v.op == TileOp::kProbeHash) {
        instr.c = static_cast<uint16_t>(add_list(v.list));
      } else if (!v.list.empty()) {
        instr.imm = add_list(v.list);
      }
      out_.instrs.push_back(instr);
      for (auto& [reg, is_live] : live) {
        if (!is_live || last_use[reg] > i) continue;
        is_live = false;
        pool[phys_[static_cast<size_t>(reg)]].push_back(assigned_[reg]);
      }
    }
    out_.segments[segment].end = static_cast<uint32_t>(out_.instrs.size());
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
    const uint16_t reg = static_cast<uint16_t>(out_.register_phys.size());
    out_.register_phys.push_back(static_cast<uint8_t>(phys));
    free_[phys].push_back(reg);  // later segments may use it
    return reg;
  }

  void finish() {
    for (int i = 0; i < fixed_; ++i) out_.register_phys.push_back(static_cast<uint8_t>(phys_[static_cast<size_t>(i)]));
    for (size_t i = 0; i < out_.segments.size(); ++i) {
      allocate(i);
      Segment& segment = out_.segments[i];
      segment.mask = physical(segment_mask_[i]);
      segment.index = physical(segment_index_register_[i]);
      segment.errors = add_list(segment_errors_[i]);
      std::vector<int> carried;
      for (int reg : segment_carried_[i])
        if (reg >= 0) carried.push_back(reg);
      segment.carried = add_list(carried);
      segment.join_rows = planner_order(segment_join_rows_[i]);
      if (i + 1 < out_.segments.size()) continue;
      out_.code.outputs = add_list(sink_outputs_);
      out_.code.group_keys = add_list(sink_keys_);
      for (size_t a = 0; a < sink_aggregates_.size(); ++a) out_.aggregates[a].arg = physical(sink_aggregates_[a]);
    }
    block::TileCode& code = out_.code;
    code.instrs = out_.instrs.data();
    code.segments = out_.segments.data();
    code.lists = out_.lists.data();
    code.aggregates = out_.aggregates.data();
    code.register_phys = out_.register_phys.data();
    code.segment_count = static_cast<uint32_t>(out_.segments.size());
    code.aggregate_count = static_cast<uint32_t>(out_.aggregates.size());
    code.join_count = static_cast<uint32_t>(out_.joins.size());
    code.hashed_groups = pipeline_.sink == SinkKind::kAggregate && !pipeline_.group_keys.empty() && out_.dense_groups == 0;
    code.makes_text = std::any_of(out_.instrs.begin(), out_.instrs.end(), makes_text);
    auto copied = [](const std::vector<bool>& columns) { return std::find(columns.begin(), columns.end(), true) != columns.end(); };
    code.keeps_text = code.makes_text && (copied(out_.copied_outputs) || copied(out_.copied_keys));
  }

  static bool makes_text(const TileInstr& instr) {
    constexpr auto kFirst = static_cast<uint16_t>(TileOp::kFirstFunction);
    return instr.op >= kFirst && (registry::kFunctions[instr.op - kFirst].traits & registry::kMakesText) != 0;
  }

  /// Build-row registers by the joins' order in the pipeline rather than the probing order.
  ListRef planner_order(const std::vector<int>& by_position) {
    std::vector<int> ordered;
    for (uint32_t join : pipeline_.joins) ordered.push_back(by_position[position_of(join)]);
    return add_list(ordered);
  }

  const Program& program_;
  const uint32_t index_;
  const Pipeline& pipeline_;
  const bool stable_text_;
  Assembly out_;
  int fixed_ = 0;
  std::vector<Phys> phys_;                     // per virtual register
  std::map<uint32_t, int> constant_register_;  // constant -> register
  std::vector<VirtualInstr> code_;             // of the segment being made
  std::map<NodeId, int> values_;               // computed in the segment being made
  std::map<size_t, int> looked_up_;            // build rows looked up in the segment being made
  std::vector<int> row_register_;              // per join position: carried build rows, -1 when looked up again
  int pending_row_register_ = -1;
  std::vector<std::vector<VirtualInstr>> segment_code_;
  std::vector<std::vector<int>> segment_carried_, segment_join_rows_, segment_errors_;
  std::vector<int> segment_mask_, segment_index_register_;
  std::vector<int> sink_outputs_, sink_aggregates_, sink_keys_;
  std::map<int, uint16_t> assigned_;
  std::map<Phys, std::vector<uint16_t>> free_;
};

}  // namespace

Assembly assemble(const Program& program, uint32_t pipeline, const std::vector<JoinInfo>& joins, bool single_byte,
                  bool stable_text) {
  return Assembler(program, pipeline, joins, single_byte, stable_text).run();
}

JoinNeeds join_needs(const Program& program, uint32_t join) {
  JoinNeeds needs;
  for (const Pipeline& p : program.pipelines) {
    if (std::find(p.joins.begin(), p.joins.end(), join) == p.joins.end()) continue;
    auto reads_rows = [&](NodeId id) {
      visit(program, id, [&](NodeId, const Node& n) {
        if (n.kind == NodeKind::kPayload && n.imm >> 16 == join) needs.rows = true;
      });
    };
    for (NodeId id : p.join_quals) reads_rows(id);
    for (NodeId id : p.outputs) reads_rows(id);
    if (p.top.rows > 0) reads_rows(p.top.key);
    for (uint32_t other : p.joins)
      for (NodeId id : program.joins[other].outer_keys) reads_rows(id);
    for (const plan::Aggregate& a : p.aggregates) {
      if (a.arg != kNoNode) reads_rows(a.arg);
      if (a.filter != kNoNode) reads_rows(a.filter);
    }
    for (NodeId id : p.group_keys) {
      const Node& n = program.nodes[id];
      if (n.kind != NodeKind::kPayload)
        reads_rows(id);
      else if (n.imm >> 16 == join && std::find(needs.group_columns.begin(), needs.group_columns.end(), n.imm & 0xffff) ==
                                          needs.group_columns.end())
        needs.group_columns.push_back(n.imm & 0xffff);
    }
    if (p.sink == SinkKind::kBuild)
      for (const plan::Join& other : program.joins)
        if (&program.pipelines[other.build_pipeline] == &p) {
          for (NodeId id : other.inner_keys) reads_rows(id);
          for (NodeId id : other.payload) reads_rows(id);
        }
  }
  return needs;
}

}  // namespace strom::engine::exec
