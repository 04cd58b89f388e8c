// The first rows of an order as tile code.
#pragma once

#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::op {

/// Drops rows that are not among the first ones. With partitions, the worker drops them when it hands rows over.
void write_top_filter(PipelineWriter* writer);

/// Register with the rows' sort keys as integers of the same order.
int write_order_key(PipelineWriter* writer);

}  // namespace strom::engine::op
