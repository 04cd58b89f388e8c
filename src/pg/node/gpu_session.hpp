// This session's connection to the GPU service. Used by node/query_run.cpp and the SQL functions about the service.
#pragma once

#include <cstdint>
#include <memory>

#include "service/remote_machine.hpp"

namespace strom::pg::node {

/// The machine that a query may run on by pg_strom.device: nullptr when the CPU is to run it. Throws (55000) when it
/// has to be the GPU and there is no service.
std::shared_ptr<service::RemoteMachine> gpu_machine();

/// The least rows of a table for which a query that has the machine uses it.
int64_t least_gpu_rows();

/// How this session introduces itself to the service.
service::ClientOptions gpu_client_options();

}  // namespace strom::pg::node
