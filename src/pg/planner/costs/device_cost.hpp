// Compares the time of a query's work on the CPU device and on a GPU, by the GPU service's measurements, and chooses
// the device of a path. Used by cost.cpp. May ereport.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// Drops what earlier statements have learned from the service.
void begin_device_costs();

/// These set or add to `input->work`; cost.cpp shows their arguments. `cost`: the cost of the same work in the model of
/// the CPU device, already divided by the number of threads.
void add_scan_work(EngineInput* input, Cost cost);
void add_join_work(EngineInput* input, const EngineInput* outer, const EngineJoin* join, int operations, double pairs,
                   Cost cost);

/// Chooses the device of `path` by the input's work and the work on top of it. The costs of `path` are those of the CPU
/// device; the function subtracts what the GPU saves. `cost`: the cost of the aggregation.
void choose_device(EnginePath* path, double produced, Cost cost);

}  // namespace strom::pg::planner
