// Aggregation as tile code: how groups are found, and which values go into the accumulators.
#pragma once

#include "engine/op/join/join_writer.hpp"

namespace strom::engine::op {

/// Writes the aggregation, and chooses the pipeline's block::Grouping.
void write_aggregation(PipelineWriter* writer, JoinWriter* joins);

}  // namespace strom::engine::op
