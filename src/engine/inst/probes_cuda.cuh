// Entry point of the separately compiled probes, for device code. Included by the .cu files of this folder alone.
#pragma once

#define STROM_PLATFORM_CUDA 1
#include "engine/block/tile.hpp"
#include "engine/platform/platform.hpp"

namespace strom::engine::inst {

__device__ void probe_index(block::TileState& state, const block::TileInstr& instr);

}  // namespace strom::engine::inst
