// The machines that run tile code in tests: every instruction set of the CPU that this one has, the CUDA kernel as
// plain C++ behind the SIMT header, and, when built with nvcc, the interpreted PTX of the real kernel.
#pragma once

#include <string>
#include <vector>

#include "engine/block/tile.hpp"

namespace strom::engine::test {

struct Machine {
  std::string name;
  block::RunMorsel run;
  bool slow;  // emulated: use little data
};

const std::vector<Machine>& machines();

/// Runs the CUDA kernel with one fiber per thread.
block::RunResult run_morsel_simt(block::TileState& state);

}  // namespace strom::engine::test
