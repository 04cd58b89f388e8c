// Host side of the kernel for copies, which are in memory that the device can read. Called by the device module.
#include <cuda_runtime.h>

#include "engine/inst/copies_cuda.cuh"

namespace strom::engine::inst {

/// Makes `count` copies, after the earlier work in the stream.
cudaError_t launch_copies(const block::BlockCopy* copies, uint32_t count, cudaStream_t stream) {
  run_copies<<<count, platform::kCudaBlockThreads, 0, stream>>>(copies);
  return cudaGetLastError();
}

}  // namespace strom::engine::inst
