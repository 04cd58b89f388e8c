// Chooses the devices that an execution may use: the planner's choice, unless pg_strom.device has been set since. Used
// by QueryRun. C++ code: throws StatusError and PostgresError.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/exec/execution.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/node/source_set.hpp"

namespace strom::pg::node {

class DeviceSelection {
 public:
  DeviceSelection(const PlanSpec& plan, SourceSet& sources) : plan_(plan), sources_(sources) {}

  /// Sets the devices in `options`, whose threads are set already. All pipelines must have begun.
  void set(engine::exec::Options* options);
  /// GPUs that the last execution could use, in the order of engine::exec::Stats::rows_by_device.
  const gpu::GpuDevices& devices() const { return devices_; }

 private:
  void set_devices(engine::exec::Options* options);

  const PlanSpec& plan_;
  SourceSet& sources_;
  gpu::GpuDevices devices_;  // these outlive the execution
  std::vector<std::vector<uint32_t>> near_devices_;
};

}  // namespace strom::pg::node
