// Entry of the planner's part: called once by _PG_init.
#pragma once

namespace strom::pg::planner {

/// A bit of cursor options, beside PostgreSQL's: of a cursor that is read once, forwards, and whose rows nobody names
/// by WHERE CURRENT OF. So any plan serves it. PostgreSQL keeps its own options in the lower bits and hands all of them
/// on.
inline constexpr int kForwardCursor = 1 << 30;

/// Chains the planner hooks that offer CpuScan, CpuJoin and CpuPreAgg.
void install();

}  // namespace strom::pg::planner
