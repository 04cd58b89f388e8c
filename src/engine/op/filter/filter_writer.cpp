#include "engine/op/filter/filter_writer.hpp"

#include <utility>

#include "engine/plan/errors.hpp"

namespace strom::engine::op {

using plan::Node;
using plan::NodeId;
using plan::NodeKind;
using registry::Phys;

namespace {

void write_segment(PipelineWriter* writer, const std::vector<NodeId>& quals, const std::string& name) {
  const int mask = writer->conjunction(quals);
  writer->end_filter(mask, {mask}, name);
}

/// True when the expression reads a column of this kind whose loading takes time.
bool reads_late(const PipelineWriter& writer, NodeId id, Phys phys) {
  bool reads = false;
  if (writer.source().late)
    plan::visit(writer.program(), id,
                [&](NodeId, const Node& n) { reads |= n.kind == NodeKind::kColumn && n.type.phys() == phys; });
  return reads;
}

/// Writes conjuncts whose order is free. First those that never fail, together over dense tiles; then those over
/// numerics that have to be converted; then those over text that may be compressed; last, one by one, those that can
/// make fallback rows.
void write_stretch(PipelineWriter* writer, const std::vector<NodeId>& stretch) {
  std::vector<NodeId> safe, numeric, packed, risky;
  for (NodeId qual : stretch)
    (plan::can_raise(writer->program(), qual) ? risky
     : reads_late(*writer, qual, Phys::kStr)  ? packed
     : reads_late(*writer, qual, Phys::kI128) ? numeric
                                              : safe)
        .push_back(qual);
  for (const auto& quals : {safe, numeric, packed})
    if (!quals.empty()) write_segment(writer, quals, "filter");
  for (NodeId qual : risky) write_segment(writer, {qual}, "filter");
}

}  // namespace

// A conjunct that can be an error in PostgreSQL keeps its place in PostgreSQL's order. So no later conjunct drops a row
// for which PostgreSQL evaluates it, and earlier conjuncts have dropped the rows for which PostgreSQL does not.
void write_filters(PipelineWriter* writer) {
  std::vector<NodeId> stretch;
  for (NodeId qual : writer->pipeline().quals) {
    if (!plan::can_be_an_error(writer->program(), qual)) {
      stretch.push_back(qual);
      continue;
    }
    write_stretch(writer, std::exchange(stretch, {}));
    write_segment(writer, {qual}, "filter");
  }
  write_stretch(writer, stretch);
}

void write_join_filter(PipelineWriter* writer, NodeId qual) { write_segment(writer, {qual}, "join filter"); }

}  // namespace strom::engine::op
