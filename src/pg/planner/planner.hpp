// Entry point of the planner's part: called once by _PG_init.
#pragma once

namespace strom::pg::planner {

/// A cursor option in addition to PostgreSQL's: the cursor is read once and forwards, and WHERE CURRENT OF does not use
/// it. So any plan serves it. PostgreSQL uses lower bits for its own options and passes all bits on.
inline constexpr int kForwardCursor = 1 << 30;

/// Chains the planner hooks that offer CpuScan, CpuJoin and CpuPreAgg.
void install();

}  // namespace strom::pg::planner
