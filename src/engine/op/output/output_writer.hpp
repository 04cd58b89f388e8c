// Sinks that hand rows to the host as tile code: results, and rows of a build side.
#pragma once

#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::exec {

/// Only rows of `partition` where the pipeline builds a join table.
void write_output(PipelineWriter* writer, Partition partition);

}  // namespace strom::engine::exec
