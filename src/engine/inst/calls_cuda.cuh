// Entry points of the groups of functions on CUDA devices, for device code. Each group is a translation unit of its
// own, and the device linker links them to the kernel, because ptxas does not finish on all of them as one program.
// Included by the .cu files of this folder alone.
#pragma once

#define STROM_PLATFORM_CUDA 1
#include "engine/block/tile.hpp"
#include "engine/platform/platform.hpp"

#define STROM_CALL_NAME(group) call_##group
/// call_GROUP
#define STROM_CALL_ENTRY(group) STROM_CALL_NAME(group)

namespace strom::engine::inst {

#define STROM_FUNCTION_GROUP(name) \
  __device__ void STROM_CALL_ENTRY(name)(block::TileState & state, const block::TileInstr& instr, uint16_t member);
#include "registry/function_groups.def"
#undef STROM_FUNCTION_GROUP

}  // namespace strom::engine::inst
