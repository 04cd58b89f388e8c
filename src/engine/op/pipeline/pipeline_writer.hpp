// Writes the tile code of one pipeline with virtual registers: values of expressions, and segments. Filters, joins and
// sinks are added by the writers of their operators (op/filter, op/join, op/hash_agg, op/output, op/top_rows), in the
// order that op/pipeline/assemble.cpp chooses.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/block/tile_op.hpp"
#include "engine/op/pipeline/assemble.hpp"
#include "registry/functions.hpp"

namespace strom::engine::op {

/// An instruction with virtual registers. Numbers below WrittenPipeline::fixed are physical registers already.
struct VirtualInstr {
  block::TileOp op;
  uint16_t flags = 0;
  int dst = -1, a = -1, b = -1, c = -1;
  uint32_t imm = 0;
  std::vector<int> list;   // goes to imm
  bool near_list = false;  // goes to c instead
};

/// Expressions of the pipeline's sink: outputs, keys and payload of a build side, or group keys and arguments.
std::vector<plan::NodeId> sink_nodes(const plan::Program& program, uint32_t pipeline);

block::TileOp function_op(registry::FunctionId id);

/// A segment with virtual registers; -1 for none.
struct WrittenSegment {
  std::vector<VirtualInstr> code;
  int mask = -1, index = -1, matched = -1, following = -1;
  std::vector<int> errors, carried, join_rows;
};

/// What the last segment hands to its sink, in virtual registers.
struct SinkRegisters {
  std::vector<int> outputs;             // kOutput
  std::vector<int> keys;                // of hashed groups
  std::vector<int> arguments, seconds;  // of each aggregate; -1 for none
};

/// Tile code without physical registers. `out` has everything that does not depend on them.
struct WrittenPipeline {
  Assembly out;
  int fixed = 0;                     // registers below it are constants and states of joins
  std::vector<registry::Phys> phys;  // per virtual register
  std::vector<WrittenSegment> segments;
  SinkRegisters sink;
};

/// Writes the values of NodeKind::kPayload.
class PayloadWriter {
 public:
  virtual ~PayloadWriter() = default;
  /// Register with the payload in the segment being made.
  virtual int payload(const plan::Node& node) = 0;
};

class PipelineWriter {
 public:
  /// `joins`: in probing order.
  PipelineWriter(const plan::Program& program, uint32_t pipeline, std::vector<JoinInfo> joins, SourceTraits source);
  PipelineWriter(const PipelineWriter&) = delete;
  PipelineWriter& operator=(const PipelineWriter&) = delete;

  const plan::Program& program() const { return program_; }
  const plan::Pipeline& pipeline() const { return pipeline_; }
  uint32_t pipeline_index() const { return index_; }
  const SourceTraits& source() const { return source_; }
  const plan::Node& node(plan::NodeId id) const { return program_.nodes[id]; }
  Assembly& out() { return written_.out; }
  SinkRegisters& sink() { return written_.sink; }
  /// True when some function that was written makes text.
  bool makes_text() const { return calls_make_text_; }
  /// Called after the last segment.
  WrittenPipeline take() { return std::move(written_); }

  // ---- registers and expressions (pipeline_writer.cpp) ----

  registry::Phys phys(int reg) const { return written_.phys[static_cast<size_t>(reg)]; }
  int new_register(registry::Phys phys);
  VirtualInstr& emit(block::TileOp op, int dst, int a = -1, int b = -1, int c = -1, uint32_t imm = 0);
  /// Register with the value of node `id` in the segment being made.
  int value(plan::NodeId id);
  /// Register with decimals in the form of accumulators and orders.
  int aligned_decimal(plan::NodeId id);
  /// Register with the conjunction.
  int conjunction(const std::vector<plan::NodeId>& quals);
  /// Makes rows with an error in one of the registers fallback rows.
  void emit_gate(const std::vector<int>& checked);
  /// True when the sink's texts have to be copied before their source goes on.
  bool is_copied(plan::NodeId id) const;

  // ---- segments (pipeline_writer.cpp) ----

  block::Segment& begin_segment(block::SegmentEnd kind, const std::string& name);
  /// The segment that was begun.
  WrittenSegment& segment() { return written_.segments.back(); }
  /// Closes a segment. Rows with a true mask go on; all rows when `mask` is -1.
  void end_filter(int mask, std::vector<int> errors, const std::string& name);
  /// Closes the segment: its code, and the registers that it hands on. Values computed in it are not carried (columns
  /// are loaded again for the rows that are left). Build rows of joins are carried as carry_rows_behind() tells.
  void end_segment();

  // ---- build rows of joins (pipeline_writer.cpp) ----

  /// A register that every segment has under the same number. Made before any other register.
  int new_fixed_register(registry::Phys phys);
  /// Fixed register for the build rows of the join at a position.
  int row_register(size_t position) const { return static_cast<int>(written_.out.constants.size() + position); }
  /// The build rows that the segment being made gets from the one before; -1: none.
  int carried_rows(size_t position) const { return carried_rows_[position]; }
  /// After the segment being made, a join's build rows are carried in `reg`; -1: not any more.
  void carry_rows_behind(size_t position, int reg) { changed_rows_.emplace_back(position, reg); }
  /// Carries a fixed register to the segment after the one being made.
  void carry_behind(int reg) { also_carried_.push_back(reg); }
  /// Sets the writer that knows where the payloads of joins are. Called before the first value() of a payload.
  void set_payloads(PayloadWriter* payloads) { payloads_ = payloads; }
  /// Number of closed segments: distinguishes values of different segments.
  size_t segment_number() const { return written_.segments.size(); }

 private:
  bool is_constant(int reg) const { return reg >= 0 && reg < static_cast<int>(written_.out.constants.size()); }
  void collect_constants();
  bool is_known(plan::NodeId id) const;
  int compute(const plan::Node& n);
  int argument(const plan::Node& n, int number);

  const plan::Program& program_;
  const uint32_t index_;
  const plan::Pipeline& pipeline_;
  const SourceTraits source_;
  WrittenPipeline written_;
  bool calls_make_text_ = false;    // some function has the trait kMakesText
  std::vector<VirtualInstr> code_;  // of the segment being made
  std::map<std::pair<uint32_t, plan::PreparedForm>, int> constant_register_;
  std::map<plan::NodeId, int> values_;  // computed in the segment being made
  PayloadWriter* payloads_ = nullptr;
  std::vector<int> carried_rows_;  // per join position, -1 for none
  std::vector<std::pair<size_t, int>> changed_rows_;
  std::vector<int> also_carried_;  // after the segment being made only
};

}  // namespace strom::engine::op
