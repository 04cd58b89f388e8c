// Host side of the CUDA instantiation. State, tile code and columns must be in memory that the device can read.
// launch_morsels() is for the device module, which keeps states on the device and runs many at a time;
// run_morsel_cuda() is the smallest whole call, for tests.
#include <cuda_runtime.h>

#include "engine/inst/tile_cuda.cuh"

namespace strom::engine::inst {

/// Runs states[i] in block i, after what is in the stream.
cudaError_t launch_morsels(block::TileState* states, block::RunResult* results, int count, cudaStream_t stream) {
  run_morsels<<<count, platform::kCudaBlockThreads, 0, stream>>>(states, results);
  return cudaGetLastError();
}

/// cudaSuccess and *result, or why the kernel did not run.
cudaError_t run_morsel_cuda(block::TileState* state, block::RunResult* result) {
  block::RunResult* device_result = nullptr;
  if (const cudaError_t error = cudaMalloc(&device_result, sizeof *result)) return error;
  run_morsels<<<1, platform::kCudaBlockThreads>>>(state, device_result);
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) error = cudaMemcpy(result, device_result, sizeof *result, cudaMemcpyDeviceToHost);
  cudaFree(device_result);
  return error;
}

}  // namespace strom::engine::inst
