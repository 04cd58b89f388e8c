// Filters as tile code: in which order conjuncts are evaluated, and which together.
#pragma once

#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::op {

/// The pipeline's conjuncts, before its joins.
void write_filters(PipelineWriter* writer);
/// The conjunct that follows the joins.
void write_join_filter(PipelineWriter* writer, plan::NodeId qual);

}  // namespace strom::engine::op
