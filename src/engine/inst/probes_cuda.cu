// The CUDA instantiation of the probes that are compiled separately from the tile interpreter, for device code.
#include "engine/inst/probes_cuda.cuh"

#include "engine/inst/dispatch_probe.hpp"

namespace strom::engine::inst {

__device__ void probe_index(block::TileState& state, const block::TileInstr& instr) {
  op::dispatch_probe(platform::Cuda{}, state, instr);
}

}  // namespace strom::engine::inst
