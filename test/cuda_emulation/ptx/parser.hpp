// Parses PTX text, as nvcc and NVRTC write it, into its syntax tree; the first step of Module's constructor.
#pragma once

#include <string_view>

#include "cuda_emulation/ptx/syntax.hpp"

namespace strom::ptx {

/// Throws Error with the line of the first thing that is not understood.
ModuleSyntax parse(std::string_view source);

}  // namespace strom::ptx
