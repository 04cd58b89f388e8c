// Entry of the planner's part: called once by _PG_init.
#pragma once

namespace strom::pg::planner {

/// Chains the planner hooks that offer CpuScan, CpuJoin and CpuPreAgg.
void install();

}  // namespace strom::pg::planner
