// Tile interpreter of an instruction set level.
#pragma once

#include "engine/exec/execution.hpp"
#include "engine/inst/tile_cpu.hpp"

namespace strom::engine::exec {

block::RunMorsel run_morsel_for(Isa isa);

}  // namespace strom::engine::exec
