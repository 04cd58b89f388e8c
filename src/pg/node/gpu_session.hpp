// This session's connections to the GPU service, one for each device that it uses. Used by node/query_run.cpp and the
// SQL functions about the service.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "service/remote_machine.hpp"

namespace strom::pg::node {

using GpuMachines = std::vector<std::shared_ptr<service::RemoteMachine>>;

/// The machines that a query over the file or folder `path` may run on by pg_strom.device, best first and at most
/// `most`: none when the CPU is to run it. Throws (55000) when it has to be a GPU and there is no service.
GpuMachines gpu_machines(const std::string& path, size_t most);

/// How this session introduces itself to the service.
service::ClientOptions gpu_client_options();

}  // namespace strom::pg::node
