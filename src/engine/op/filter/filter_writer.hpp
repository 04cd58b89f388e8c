// Filters as tile code: the order of the conjuncts, and which of them are evaluated together.
#pragma once

#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::op {

/// Writes the pipeline's conjuncts, before its joins.
void write_filters(PipelineWriter* writer);
/// Writes the conjunct that follows the joins.
void write_join_filter(PipelineWriter* writer, plan::NodeId qual);

}  // namespace strom::engine::op
