// The CUDA instantiation of the tile interpreter: one block per worker state. Compiled by nvcc into the device module,
// and by tests against a SIMT header.
#pragma once

#define STROM_PLATFORM_CUDA 1
#include "engine/op/pipeline/kernel.hpp"

namespace strom::engine::inst {

/// Block b runs states[b] until its morsel is finished or something is full; launch with kCudaBlockThreads threads.
__global__ void __launch_bounds__(platform::kCudaBlockThreads) run_morsels(block::TileState* states, block::RunResult* results) {
  const platform::Cuda machine{};
  const block::RunResult result = op::run_morsel(machine, states[blockIdx.x]);
  machine.leader([&] { results[blockIdx.x] = result; });
}

}  // namespace strom::engine::inst
