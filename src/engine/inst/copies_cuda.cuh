// The CUDA instantiation of the kernel of engine/op/copies: one block per copy.
#pragma once

#define STROM_PLATFORM_CUDA 1
#include "engine/op/copies/kernel.hpp"

namespace strom::engine::inst {

/// Block b makes copy b; launch with kCudaBlockThreads threads.
__global__ void __launch_bounds__(platform::kCudaBlockThreads) run_copies(const block::BlockCopy* copies) {
  op::run_copy(platform::Cuda{}, copies[blockIdx.x]);
}

}  // namespace strom::engine::inst
