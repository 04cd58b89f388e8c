// Host side of the CUDA instantiation: runs one worker state on the device and waits. State, tile code and columns
// must be in memory that the device can read. The device driver of the GPU service keeps states on the device and
// launches many at a time; this is the smallest whole call.
#include <cuda_runtime.h>

#include "engine/inst/tile_cuda.cuh"

namespace strom::engine::inst {

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
