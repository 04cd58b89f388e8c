// Combines statistics of several executions of one node. Used by QueryRun.
#pragma once

#include "engine/exec/execution.hpp"

namespace strom::pg::node {

/// Adds counts and times. For memory, threads and passes it takes the maximum.
void add_statistics(engine::exec::Stats* sum, const engine::exec::Stats& more);

}  // namespace strom::pg::node
