// Statistics of several executions of one node together. Used by QueryRun.
#pragma once

#include "engine/exec/execution.hpp"

namespace strom::pg::node {

/// Adds counts and times; of memory, threads and passes `sum` has the largest.
void add_statistics(engine::exec::Stats* sum, const engine::exec::Stats& more);

}  // namespace strom::pg::node
