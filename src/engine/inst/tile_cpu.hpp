// Entry points of the tile interpreter on the CPU, one per instruction set. Called by engine/exec.
#pragma once

#include "engine/block/tile.hpp"
#include "engine/platform/isa.hpp"

namespace strom::engine::inst {

#define STROM_DECLARE_ENTRY(name, level) block::RunResult run_morsel_##name(block::TileState& state);
STROM_FOR_EACH_ISA(STROM_DECLARE_ENTRY)
#undef STROM_DECLARE_ENTRY

/// The entry point of a level, or of the lowest level if that level is not built.
block::RunMorsel run_morsel_for(platform::Isa isa);

}  // namespace strom::engine::inst
