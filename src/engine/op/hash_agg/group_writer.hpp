// Aggregation as tile code: how groups are found, and what goes into the accumulators.
#pragma once

#include "engine/op/join/join_writer.hpp"

namespace strom::engine::op {

/// Also chooses the pipeline's block::Grouping.
void write_aggregation(PipelineWriter* writer, JoinWriter* joins);

}  // namespace strom::engine::op
