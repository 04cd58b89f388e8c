// Runs the blocks of a launch on OS threads; called by Module::launch.
#pragma once

#include <cstdint>

#include "cuda_emulation/ptx/instruction.hpp"

namespace strom::ptx {

/// Returns the number of instructions executed; throws the first Error of any block.
std::uint64_t run_grid(const LaunchState& launch, unsigned os_threads);

}  // namespace strom::ptx
