// Entry points of the tile interpreter on the CPU, one per instruction set. Called by engine/exec.
#pragma once

#include "engine/block/tile.hpp"

namespace strom::engine::inst {

block::RunResult run_morsel_baseline(block::TileState& state);
#if defined(__x86_64__)
block::RunResult run_morsel_v2(block::TileState& state);
block::RunResult run_morsel_v3(block::TileState& state);
block::RunResult run_morsel_v4(block::TileState& state);
#endif

}  // namespace strom::engine::inst
