// The CUDA kernel of the engine, compiled as plain C++.
#include "cuda_emulation/simt.hpp"
#include "engine/inst/tile_cuda.cuh"
#include "targets.hpp"

namespace strom::engine::test {

block::RunResult run_morsel_simt(block::TileState& state) {
  block::RunResult result = block::RunResult::kDone;
  simt::launch({.grid = dim3(1), .block = dim3(platform::kCudaBlockThreads), .os_threads = 1}, inst::run_morsels,
               &state, &result);
  return result;
}

}  // namespace strom::engine::test
