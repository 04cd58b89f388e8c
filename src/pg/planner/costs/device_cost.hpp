// What a query's work takes on the CPU device and on a GPU, by the GPU service's measurements, and which of the two a
// path is for. Used by cost.cpp. May ereport.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// Forgets what earlier statements knew of the service.
void begin_device_costs();

/// Fill or add to `input->work`; see cost.cpp for what they are called with. `cost`: of the same work in the model of
/// the CPU device, already divided by threads.
void add_scan_work(EngineInput* input, Cost cost);
void add_join_work(EngineInput* input, const EngineInput* outer, const EngineJoin* join, int operations, double pairs,
                   Cost cost);

/// Chooses the device of `path`, whose costs are those of the CPU device, by the input's work and what comes on top of
/// it, and takes off what it saves. `cost`: of the aggregation's part of the work.
void choose_device(EnginePath* path, double produced, Cost cost);

}  // namespace strom::pg::planner
