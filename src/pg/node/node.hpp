// Executor nodes CpuScan, CpuJoin and CpuPreAgg, and the same for a GPU: GpuScan, GpuJoin, GpuPreAgg.
// register_methods() is called once by _PG_init; scan_methods() by the planner.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// Registers the nodes by name, so that plans can be read back from text (parallel workers, debugging). May ereport.
void register_methods();

/// The methods of a plan; `kind` is a PlanKind.
const CustomScanMethods* scan_methods(int kind, bool on_gpu);

/// True for plans of these nodes.
bool is_engine_plan(const CustomScan* plan);

/// True for engine plans that the planner has made for a GPU.
bool is_gpu_plan(const CustomScan* plan);

}  // namespace strom::pg::node
