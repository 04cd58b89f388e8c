// Tile interpreter of an instruction set level, or of the library that environment STROM_TILE_LIBRARY names (tests).
#pragma once

#include "engine/exec/execution.hpp"
#include "engine/inst/tile_cpu.hpp"

namespace strom::engine::exec {

Result<block::RunMorsel> run_morsel_for(Isa isa);

}  // namespace strom::engine::exec
