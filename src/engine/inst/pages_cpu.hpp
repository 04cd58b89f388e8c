// The kernel of engine/op/pages on the CPU: for devices in tests that run on the CPU.
#pragma once

#include "engine/block/pages.hpp"

namespace strom::engine::inst {

/// Does the task's step for its first `count` pages.
void run_pages_cpu(const block::PageTask& task, uint32_t count);

}  // namespace strom::engine::inst
