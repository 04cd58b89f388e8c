// The kernel of engine/op/copies on the CPU: for devices in tests that run on the CPU.
#pragma once

#include "engine/block/copies.hpp"

namespace strom::engine::inst {

void run_copies_cpu(const block::BlockCopy* copies, uint32_t count);

}  // namespace strom::engine::inst
