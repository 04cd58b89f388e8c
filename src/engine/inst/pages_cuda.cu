// Host side of the kernel for pages. The task, and what it points to, must be in memory that the device can read.
// Called by the device module.
#include <cuda_runtime.h>

#include "engine/inst/pages_cuda.cuh"

namespace strom::engine::inst {

/// Does the task's step for its first `count` pages, after the earlier work in the stream.
cudaError_t launch_pages(const block::PageTask* task, uint32_t count, cudaStream_t stream) {
  run_pages<<<count, platform::kCudaBlockThreads, 0, stream>>>(task);
  return cudaGetLastError();
}

}  // namespace strom::engine::inst
