#include "engine/op/pipeline/assemble.hpp"

#include <algorithm>

#include "engine/block/row_order.hpp"
#include "engine/op/filter/filter_writer.hpp"
#include "engine/op/hash_agg/accumulator.hpp"
#include "engine/op/hash_agg/group_writer.hpp"
#include "engine/op/hash_agg/shared_memory.hpp"
#include "engine/op/join/join_writer.hpp"
#include "engine/op/output/output_writer.hpp"
#include "engine/op/pipeline/pipeline_writer.hpp"
#include "engine/op/pipeline/register_allocator.hpp"

namespace strom::engine::op {

using block::Segment;
using block::TileInstr;
using block::TileOp;
using plan::Program;
using plan::SinkKind;
using registry::Phys;

namespace {

/// Filters, joins and the sink, in the order in which rows meet them.
void write_operators(PipelineWriter* writer, Partition partition, bool of_build_rows) {
  JoinWriter joins(writer);
  size_t early = 0;  // joins that come before the filters
  if (of_build_rows) {
    joins.emit_build_rows();
    early = 1;
  } else if (joins.keys_precede_quals()) {
    early = joins.is_lookup(0) ? 1 : 0;
    if (early != 0)
      joins.emit_probe(0);
    else
      joins.emit_key_filter();
  }
  write_filters(writer);
  for (size_t position = early; position < writer->out().joins.size(); ++position) joins.emit_probe(position);
  for (const plan::NodeId qual : writer->pipeline().join_quals) write_join_filter(writer, qual);
  if (writer->pipeline().sink == SinkKind::kAggregate)
    write_aggregation(writer, &joins);
  else
    write_output(writer, &joins, partition);
}

/// Makes the rows of a single table reach the sink in the source's order.
void keep_order(Assembly* out) {
  for (Segment& segment : out->segments)
    if (segment.kind == block::SegmentEnd::kFilter) segment.join = block::kKeepsOrder;
}

bool inflates_text(const Assembly& out, const TileInstr& instr) {
  return instr.op == static_cast<uint16_t>(TileOp::kLoadColumn) &&
         static_cast<Phys>(out.register_phys[instr.dst]) == Phys::kStr;
}

bool has_any(const std::vector<bool>& flags) { return std::find(flags.begin(), flags.end(), true) != flags.end(); }

/// Fills in what no longer depends on the pipeline's expressions.
void finish(const PipelineWriter& writer, const SourceTraits& source, Assembly* out) {
  block::TileCode& code = out->code;
  out->own_arrays.resize(out->aggregates.size());
  if (writer.pipeline().sink == SinkKind::kAggregate) lay_out_shared_memory(out);
  code.instrs = out->instrs.data();
  code.segments = out->segments.data();
  code.lists = out->lists.data();
  code.aggregates = out->aggregates.data();
  code.register_phys = out->register_phys.data();
  code.own_arrays = out->own_arrays.data();
  code.segment_count = static_cast<uint32_t>(out->segments.size());
  code.aggregate_count = static_cast<uint32_t>(out->aggregates.size());
  code.join_count = static_cast<uint32_t>(out->joins.size());
  const bool order_counts = out->ordered_groups || depends_on_order(*out);
  if (order_counts && out->joins.empty() && !source.on_device) keep_order(out);
  const bool inflates = source.late && std::any_of(out->instrs.begin(), out->instrs.end(),
                                                   [out](const TileInstr& i) { return inflates_text(*out, i); });
  code.makes_text = writer.makes_text() || inflates;
  code.keeps_text =
      code.makes_text && (has_any(out->copied_outputs) || has_any(out->copied_keys) || has_any(out->copied_aggregates));
}

}  // namespace

bool depends_on_order(const Assembly& assembly) {
  return std::any_of(assembly.aggregates.begin(), assembly.aggregates.end(),
                     [](const block::AggregateCode& aggregate) { return depends_on_order(aggregate); });
}

Result<Assembly> assemble(const Program& program, uint32_t pipeline, const std::vector<JoinInfo>& joins,
                          Partition partition, SourceTraits source, bool of_build_rows) {
  PipelineWriter writer(program, pipeline, probing_order(program, pipeline, joins), source);
  write_operators(&writer, partition, of_build_rows);
  WrittenPipeline written = writer.take();
  if (!RegisterAllocator(&written).run(program.pipelines[pipeline].joins))
    return Status(ErrorCode::kInternal, "engine program needs too many registers");
  finish(writer, source, &written.out);
  return std::move(written.out);
}

}  // namespace strom::engine::op
