#include "engine/op/output/output_writer.hpp"

#include "engine/op/top_rows/top_writer.hpp"

namespace strom::engine::op {

using plan::NodeId;
using plan::SinkKind;
using registry::Phys;

namespace {

/// How many of the sink's expressions are keys of the join table that the pipeline builds.
size_t count_build_keys(const PipelineWriter& writer) {
  if (writer.pipeline().sink != SinkKind::kBuild) return 0;
  for (const plan::Join& join : writer.program().joins)
    if (join.build_pipeline == writer.pipeline_index()) return join.inner_keys.size();
  return 0;
}

}  // namespace

void write_output(PipelineWriter* writer, JoinWriter* joins, Partition partition) {
  const plan::Pipeline& pipeline = writer->pipeline();
  const bool top = pipeline.sink == SinkKind::kProject && pipeline.top.rows > 0;
  if (top) write_top_filter(writer);
  std::vector<NodeId> nodes = sink_nodes(writer->program(), writer->pipeline_index());
  if (top) {  // further columns, which only the worker uses
    nodes = pipeline.outputs;
    nodes.insert(nodes.end(), pipeline.top.partition.begin(), pipeline.top.partition.end());
  }
  const size_t keys = count_build_keys(*writer);
  joins->emit_partition({nodes.begin(), nodes.begin() + static_cast<long>(keys)}, partition);
  std::vector<int> outputs;
  Assembly& out = writer->out();
  for (size_t i = 0; i < nodes.size(); ++i) {
    outputs.push_back(i < keys ? joins->join_key(nodes[i]) : writer->value(nodes[i]));
    out.output_phys.push_back(writer->node(nodes[i]).type.phys());
    out.copied_outputs.push_back(writer->is_copied(nodes[i]));
  }
  if (top) {
    outputs.push_back(write_order_key(writer));
    out.output_phys.push_back(Phys::kI64);
    out.copied_outputs.push_back(false);
  }
  writer->emit_gate(outputs);
  writer->begin_segment(block::SegmentEnd::kOutput, pipeline.sink == SinkKind::kBuild ? "build" : "projection");
  writer->sink().outputs = outputs;
  writer->end_segment();
}

}  // namespace strom::engine::op
