// Shared object for STROM_TILE_LIBRARY: runs the engine's tiles through its CUDA kernel, whose PTX is interpreted on
// the CPU. Loaded by unit tests, and by a test server to run whole queries on the emulated device.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "cuda_emulation/fake_cudart.hpp"
#include "engine/block/tile.hpp"

namespace strom::engine::inst {
cudaError_t run_morsel_cuda(block::TileState* state, block::RunResult* result);
}  // namespace strom::engine::inst

extern "C" __attribute__((visibility("default"))) strom::engine::block::RunResult strom_run_morsel(
    strom::engine::block::TileState& state) {
  static std::once_flag shared;
  std::call_once(shared, strom::cuda_emulation::share_host_memory);
  auto result = strom::engine::block::RunResult::kDone;
  const cudaError_t error = strom::engine::inst::run_morsel_cuda(&state, &result);
  if (error == cudaSuccess) return result;
  std::fprintf(stderr, "emulated CUDA kernel failed: %s\n", cudaGetErrorString(error));
  std::abort();
}
