// Accumulators in the shared memory of a device's blocks, for the groups with the smallest numbers, with any Grouping.
#pragma once

#include "engine/op/pipeline/assemble.hpp"

namespace strom::engine::op {

/// Places as many groups as a block's shared memory can hold, if all accumulators of a group can be there. The pipeline
/// aggregates, and its Assembly is otherwise complete.
void lay_out_shared_memory(Assembly* assembly);

}  // namespace strom::engine::op
