// Sinks that hand rows to the host as tile code: results, and rows of a build side.
#pragma once

#include "engine/op/join/join_writer.hpp"

namespace strom::engine::op {

/// If the pipeline builds a join table, only the rows of `partition` are handed over.
void write_output(PipelineWriter* writer, JoinWriter* joins, Partition partition);

}  // namespace strom::engine::op
