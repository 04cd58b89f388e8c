// Host side of the CUDA instantiation. State, tile code and columns must be in memory that the device can read.
// Called by the device module.
#include <cuda_runtime.h>

#include "engine/block/fingerprint.hpp"
#include "engine/inst/tile_cuda.cuh"

namespace strom::engine::inst {

uint64_t kernel_fingerprint() { return block::fingerprint(); }

/// Runs states[i] in block i, after the earlier work in the stream.
cudaError_t launch_morsels(block::TileState* states, block::RunResult* results, int count, cudaStream_t stream) {
  run_morsels<<<count, platform::kCudaBlockThreads, 0, stream>>>(states, results);
  return cudaGetLastError();
}

/// Blocks that a multiprocessor of the thread's device runs at a time. Loads the kernel.
cudaError_t morsels_per_processor(int* count) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(count, run_morsels, platform::kCudaBlockThreads, 0);
}

}  // namespace strom::engine::inst
