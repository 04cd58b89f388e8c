// Writes the tile code of one pipeline with virtual registers: values of expressions, probes of joins, segments.
// Filters and sinks are added by the writers of their operators (op/filter, op/hash_agg, op/output, op/top_rows), in
// the order that op/pipeline/assemble.cpp chooses.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/op/pipeline/assemble.hpp"
#include "registry/functions.hpp"

namespace strom::engine::exec {

/// An instruction whose registers are virtual: numbers below WrittenPipeline::fixed are registers already.
struct VirtualInstr {
  block::TileOp op;
  uint16_t flags = 0;
  int dst = -1, a = -1, b = -1, c = -1;
  uint32_t imm = 0;
  std::vector<int> list;  // goes to imm (kHash, kFindGroup, kGate) or c (kProbeHash, kInPartition)
};

/// Expressions that the pipeline's sink takes: outputs, keys and payload of a build side, or group keys and arguments.
std::vector<plan::NodeId> sink_nodes(const plan::Program& program, uint32_t pipeline);

block::TileOp function_op(registry::FunctionId id);

/// A segment with virtual registers; -1 for none.
struct WrittenSegment {
  std::vector<VirtualInstr> code;
  int mask = -1, index = -1, matched = -1;
  std::vector<int> errors, carried, join_rows;
};

/// What the last segment hands to its sink: virtual registers.
struct SinkRegisters {
  std::vector<int> outputs;             // kOutput
  std::vector<int> keys;                // of hashed groups
  std::vector<int> arguments, seconds;  // of each aggregate; -1 for none
};

/// Tile code but for its registers. `out` has all that does not depend on them.
struct WrittenPipeline {
  Assembly out;
  int fixed = 0;                     // registers below it are constants and states of joins
  std::vector<registry::Phys> phys;  // per virtual register
  std::vector<WrittenSegment> segments;
  SinkRegisters sink;
};

class PipelineWriter {
 public:
  PipelineWriter(const plan::Program& program, uint32_t pipeline, const std::vector<JoinInfo>& joins,
                 SourceTraits source);

  const plan::Program& program() const { return program_; }
  const plan::Pipeline& pipeline() const { return pipeline_; }
  uint32_t pipeline_index() const { return index_; }
  const SourceTraits& source() const { return source_; }
  const plan::Node& node(plan::NodeId id) const { return program_.nodes[id]; }
  Assembly& out() { return written_.out; }
  SinkRegisters& sink() { return written_.sink; }
  /// Some function that has been written makes text.
  bool makes_text() const { return calls_make_text_; }
  /// After the last segment.
  WrittenPipeline take() { return std::move(written_); }

  // ---- registers and expressions (pipeline_writer.cpp) ----

  registry::Phys phys(int reg) const { return written_.phys[static_cast<size_t>(reg)]; }
  int new_register(registry::Phys phys);
  VirtualInstr& emit(block::TileOp op, int dst, int a = -1, int b = -1, int c = -1, uint32_t imm = 0);
  /// Register with the value of node `id` in the segment being made.
  int value(plan::NodeId id);
  /// Register with decimals as accumulators and orders take them.
  int aligned_decimal(plan::NodeId id);
  /// Register with the conjunction.
  int conjunction(const std::vector<plan::NodeId>& quals);
  /// Rows for which one of the registers has an error become fallback rows.
  void emit_gate(const std::vector<int>& checked);
  /// The sink's texts have to be copied before their source goes on.
  bool is_copied(plan::NodeId id) const;

  // ---- segments (pipeline_writer.cpp) ----

  block::Segment& begin_segment(block::SegmentEnd kind, const std::string& name);
  /// Of the segment that was begun.
  WrittenSegment& segment() { return written_.segments.back(); }
  /// Closes a segment of which rows with a true mask go on; all rows when `mask` is -1.
  void end_filter(int mask, std::vector<int> errors, const std::string& name);
  /// Closes the segment: its code, and what it hands on. Values computed in it are not carried (columns are loaded
  /// again for the rows that are left); build rows of joins are, as rows_carried_behind() has said.
  void end_segment();

  // ---- joins (op/hash_join/join_writer.cpp) ----

  size_t position_of(uint32_t join) const;
  /// The probe of the join at a position decides by the key alone.
  bool is_lookup(size_t position) const;
  /// Payloads that are grouped by have codes.
  bool is_coded(size_t position) const { return !may_miss(position) && info(position).build->is_coded(); }
  uint32_t code_count(size_t position) const { return info(position).build->code_count(); }
  /// Register of a key; char(n) keys compare without their padding.
  int join_key(plan::NodeId id);
  /// Register with the group code of a probed join.
  int group_code(size_t position);
  /// The probe, or where build rows are wanted its keys alone, come before the filters.
  bool keys_precede_quals() const;
  void emit_key_filter();
  void emit_probe(size_t position);
  void emit_build_rows();
  /// Drops rows of other partitions.
  void emit_partition(const std::vector<plan::NodeId>& keys, Partition partition);

 private:
  bool is_constant(int reg) const { return reg >= 0 && reg < static_cast<int>(written_.out.constants.size()); }
  void collect_constants();
  bool is_known(plan::NodeId id) const;
  int compute(const plan::Node& n);

  void order_joins(const std::vector<JoinInfo>& joins);
  bool is_ready(uint32_t join, const std::set<uint32_t>& done) const;
  double rank(const JoinInfo& info) const;
  void add_join_registers();
  int payload(const plan::Node& n);
  const JoinInfo& info(size_t position) const { return written_.out.joins[position]; }
  const plan::Join& join_at(size_t position) const { return program_.joins[info(position).join]; }
  /// The payload may be null because there is no build row.
  bool may_miss(size_t position) const { return plan::may_miss(join_at(position).kind); }
  std::string join_name(size_t position) const { return "join " + std::to_string(info(position).join + 1); }
  int join_row_register(size_t position) const { return static_cast<int>(written_.out.constants.size() + position); }
  const block::JoinTable& table(size_t position) const { return info(position).build->table(); }
  int direct_key(size_t position) { return value(join_at(position).outer_keys[0]); }
  void rows_carried_behind(size_t position, int reg) { changed_rows_.emplace_back(position, reg); }
  int build_rows(size_t position);
  int emit_candidates(size_t position, int rows);
  std::vector<int> qual_columns(size_t position);
  void emit_lookup(size_t position, const std::string& name);
  void emit_existence(size_t position, const std::string& name);
  void emit_match(size_t position, const std::string& name);

  const plan::Program& program_;
  const uint32_t index_;
  const plan::Pipeline& pipeline_;
  const SourceTraits source_;
  WrittenPipeline written_;
  bool calls_make_text_ = false;               // of functions with the trait kMakesText
  std::vector<VirtualInstr> code_;             // of the segment being made
  std::map<uint32_t, int> constant_register_;  // constant -> register
  std::map<plan::NodeId, int> values_;         // computed in the segment being made
  std::map<size_t, int> looked_up_;            // build rows looked up in the segment being made
  std::vector<int> row_register_;              // per join position: carried build rows, -1 when looked up again
  std::vector<int> matched_register_;          // per join position: of a left join that tries build rows, else -1
  std::vector<std::pair<size_t, int>> changed_rows_;
  std::vector<int> also_carried_;  // behind the segment being made only
};

}  // namespace strom::engine::exec
