// The first rows of an order as tile code.
#pragma once

#include "engine/op/pipeline/pipeline_writer.hpp"

namespace strom::engine::op {

/// Drops rows that are not among the first ones; of partitions the worker does that when the rows are handed over.
void write_top_filter(PipelineWriter* writer);

/// Register with the sort keys of the rows, of which the first ones are wanted: integers of the same order.
int write_order_key(PipelineWriter* writer);

}  // namespace strom::engine::op
