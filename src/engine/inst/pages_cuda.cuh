// The CUDA instantiation of the kernel of engine/op/pages: one block per page.
#pragma once

#define STROM_PLATFORM_CUDA 1
#include "engine/op/pages/kernel.hpp"

namespace strom::engine::inst {

/// Block b does the task's step for page b; launch with kCudaBlockThreads threads.
__global__ void __launch_bounds__(platform::kCudaBlockThreads) run_pages(const block::PageTask* task) {
  __shared__ op::PageScratch scratch;
  op::run_page(platform::Cuda{}, *task, blockIdx.x, scratch);
}

}  // namespace strom::engine::inst
