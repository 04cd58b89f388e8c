// Takes the PTX text out of what nvcc puts into an object file. Used by the fake runtime.
#pragma once

#include <string>
#include <vector>

namespace strom::cuda_emulation {

/// `fatbin`: a container with its header, as __fatBinC_Wrapper_t::data points to. The texts of its PTX entries.
/// Throws ptx::Error when it is malformed or holds compressed entries (nvcc without -Xfatbin=-compress=false).
std::vector<std::string> extract_ptx(const void* fatbin);

}  // namespace strom::cuda_emulation
