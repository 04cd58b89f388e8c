// The CPU instantiation of the tile interpreter without the functions. Compiled once per instruction set, with
// STROM_ISA naming the level.
#include "engine/inst/tile_cpu.hpp"

#include "engine/inst/calls_cpu.hpp"
#include "engine/inst/probes_cpu.hpp"
#include "engine/op/pipeline/kernel.hpp"

#define STROM_CONCAT2(a, b) a##b
#define STROM_ENTRY(isa) STROM_CONCAT2(run_morsel_, isa)

namespace strom::engine::op {

template <>
void execute_call(const platform::Cpu&, TileState& s, const TileInstr& instr) {
  const auto [group, member] = called_function(instr);
  switch (group) {
#define STROM_FUNCTION_GROUP(name) \
  case registry::FunctionGroup::name: inst::STROM_CALL_ENTRY(name)(s, instr, member); break;
#include "registry/function_groups.def"
#undef STROM_FUNCTION_GROUP
  }
}

template <>
void probe_index(const platform::Cpu&, TileState& s, const TileInstr& instr) {
  inst::STROM_PROBE_ENTRY(s, instr);
}

}  // namespace strom::engine::op

namespace strom::engine::inst {

block::RunResult STROM_ENTRY(STROM_ISA)(block::TileState& state) { return op::run_morsel(platform::Cpu{}, state); }

}  // namespace strom::engine::inst
