// Sinks that hand rows to the host as tile code: results, and rows of a build side.
#pragma once

#include "engine/op/join/join_writer.hpp"

namespace strom::engine::op {

/// Only rows of `partition` where the pipeline builds a join table.
void write_output(PipelineWriter* writer, JoinWriter* joins, Partition partition);

}  // namespace strom::engine::op
