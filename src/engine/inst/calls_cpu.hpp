// Entry points of the groups of functions on the CPU, for the instruction set that STROM_ISA names. Included by the
// translation units of this folder alone.
#pragma once

#include "engine/block/tile.hpp"

#define STROM_CONCAT3(a, b, c) a##b##_##c
#define STROM_NAME_OF_ISA(prefix, name, isa) STROM_CONCAT3(prefix, name, isa)
/// call_GROUP_ISA
#define STROM_CALL_ENTRY(group) STROM_NAME_OF_ISA(call_, group, STROM_ISA)

namespace strom::engine::inst {

#define STROM_FUNCTION_GROUP(name) \
  void STROM_CALL_ENTRY(name)(block::TileState & state, const block::TileInstr& instr, uint16_t member);
#include "registry/function_groups.def"
#undef STROM_FUNCTION_GROUP

}  // namespace strom::engine::inst
