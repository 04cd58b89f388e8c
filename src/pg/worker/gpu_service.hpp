// The background worker that keeps the GPU service running: see docs/dev/gpu-service.md.
#pragma once

namespace strom::pg::worker {

/// Called while the server starts with the extension preloaded: registers the worker if the server should have a
/// service. Does not throw.
void register_gpu_service();

}  // namespace strom::pg::worker
