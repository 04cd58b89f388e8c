// Executor nodes CpuScan, CpuJoin and CpuPreAgg. register_methods() is called once by _PG_init; scan_methods() by the
// planner.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// Makes the nodes known by name, so that plans can be read back from text (parallel workers, debugging). May ereport.
void register_methods();

/// Methods of a plan; `kind`: planner::PlanKind.
const CustomScanMethods* scan_methods(int kind);

}  // namespace strom::pg::node
