// This session's connections to the GPU service, one for each device that the session uses. Used by node/query_run.cpp
// and the SQL functions about the service.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "service/remote_device.hpp"

namespace strom::pg::gpu {

using GpuDevices = std::vector<std::shared_ptr<service::RemoteDevice>>;

struct GpuChoice {
  GpuDevices devices;                       // best first
  std::vector<std::vector<uint32_t>> near;  // for each path, see engine::exec::Options::near_devices
};

/// The devices on which a query over the files or folders `paths` may run by pg_strom.device, at most `most`; an empty
/// path stands for no file. No devices: the query runs on the CPU. Throws (55000) when the setting requires a GPU and
/// there is no service.
GpuChoice choose_gpus(const std::vector<std::string>& paths, size_t most);

/// Describes this session to the service.
service::ClientOptions gpu_client_options();

}  // namespace strom::pg::gpu
