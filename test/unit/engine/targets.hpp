// What runs tile code in tests: every instruction set that the CPU has, the CUDA kernel as
// plain C++ behind the SIMT header, and, when built with nvcc, the interpreted PTX of the real kernel; and devices with
// memory of their own: one whose tiles run on the CPU, and the emulated CUDA device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/block/tile.hpp"
#include "engine/device/device.hpp"
#include "engine/exec/execution.hpp"

namespace strom::engine::test {

struct Target {
  std::string name;
  block::RunMorsel run;
  bool slow;  // emulated: use little data
  device::Device* device = nullptr;
  bool is_cuda = false;  // runs the CUDA kernel, which leaves functions of the host's library to PostgreSQL

  /// What a run leaves on it may be there for the next.
  bool keeps() const { return device != nullptr && device->cache() != nullptr; }
  /// Makes an execution run on it.
  void use_by(exec::Options* options) const {
    options->run = run;
    options->device = device;
    options->device_morsel_rows = 5000;
  }
};

const std::vector<Target>& targets();
/// The CPU alone, for what is about its workers.
const Target& cpu_target();

/// A device with memory apart from the host's, whose tiles run on the CPU. Holds at most
/// `memory` bytes.
std::unique_ptr<device::Device> host_device(block::RunMorsel run, int states, size_t memory);

/// Runs the CUDA kernel with one fiber per thread.
block::RunResult run_morsel_simt(block::TileState& state);

}  // namespace strom::engine::test
