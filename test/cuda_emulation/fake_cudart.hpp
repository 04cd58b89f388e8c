// What tests may ask the fake CUDA runtime beyond the runtime's own interface.
//
// The fake runtime (fake_cudart.cpp) is linked instead of libcudart. Objects that nvcc made from .cu files with PTX in
// them register themselves as usual; a launch runs their PTX in the interpreter. Host and device memory are the same,
// but kernels may only touch what was allocated through the runtime, and copies check their device side.
//
// As on a device, a kernel's failure shows at the next synchronising call and stays until cudaDeviceReset().
#pragma once

#include <cstdint>
#include <string>

namespace strom::cuda_emulation {

/// What went wrong last in the whole process: place and reason; empty after cudaDeviceReset(). cudaGetErrorString()
/// returns it too for cudaErrorLaunchFailure and cudaErrorInvalidPtx.
std::string last_failure();

/// PTX instructions executed, and kernels launched, by the process so far.
std::uint64_t executed_instructions();
std::uint64_t launched_kernels();

/// Allocations that were not freed.
std::size_t live_allocations();

/// Lets kernels use any memory of the process, as devices do that share the host's page tables (HMM, Grace Hopper).
void share_host_memory();

}  // namespace strom::cuda_emulation
