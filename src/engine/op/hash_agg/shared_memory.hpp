// Accumulators in the shared memory of a device's blocks, for groups with small numbers, whatever the Grouping.
#pragma once

#include "engine/op/pipeline/assemble.hpp"

namespace strom::engine::op {

/// As many groups as a block's shared memory can hold, where all of their accumulators can be in it. Of a pipeline that
/// aggregates, whose Assembly is otherwise complete.
void lay_out_shared_memory(Assembly* assembly);

}  // namespace strom::engine::op
