// The CUDA instantiation of the tile interpreter: one block per worker state. nvcc compiles it into the device module,
// with the groups of functions in separate units (STROM_CUDA_LINKED, see inst/calls_cuda.cuh). Tests compile it as one
// unit: to PTX that is interpreted, and against a SIMT header.
#pragma once

#define STROM_PLATFORM_CUDA 1
#ifdef STROM_CUDA_LINKED
#include "engine/inst/calls_cuda.cuh"
#include "engine/inst/probes_cuda.cuh"
#else
#include "engine/inst/dispatch_probe.hpp"
#include "engine/op/call/array.hpp"
#include "engine/op/call/cast.hpp"
#include "engine/op/call/compare.hpp"
#include "engine/op/call/date_part.hpp"
#include "engine/op/call/datetime.hpp"
#include "engine/op/call/geometry.hpp"
#include "engine/op/call/integer.hpp"
#include "engine/op/call/json.hpp"
#include "engine/op/call/network.hpp"
#include "engine/op/call/numeric.hpp"
#include "engine/op/call/real.hpp"
#include "engine/op/call/regex.hpp"
#include "engine/op/call/text.hpp"
#endif
#include "engine/op/pipeline/kernel.hpp"

#ifdef STROM_CUDA_LINKED
#define STROM_CALL_GROUP(name) inst::STROM_CALL_ENTRY(name)(s, instr, called.member)
#else
#define STROM_CALL_GROUP(name) name::execute_group(p, s, instr, called.member)
#endif

namespace strom::engine::op {

template <class P>
STROM_KERNEL void execute_call(const P& p, TileState& s, const TileInstr& instr) {
  const block::CalledFunction called = block::called_function(instr);
  switch (called.group) {
#define STROM_FUNCTION_GROUP(name) \
  case registry::FunctionGroup::name: STROM_CALL_GROUP(name); break;
#include "registry/function_groups.def"
#undef STROM_FUNCTION_GROUP
  }
}

template <class P>
STROM_KERNEL void probe_index(const P& p, TileState& s, const TileInstr& instr) {
#ifdef STROM_CUDA_LINKED
  inst::probe_index(s, instr);
#else
  dispatch_probe(p, s, instr);
#endif
}

}  // namespace strom::engine::op

namespace strom::engine::inst {

/// Block b runs states[b] until its morsel is finished or something is full; launch with kCudaBlockThreads threads.
__global__ void __launch_bounds__(platform::kCudaBlockThreads, platform::kCudaBlocks)
    run_morsels(block::TileState* states, block::RunResult* results) {
  const platform::Cuda device{};
  block::TileState& state = states[blockIdx.x];
  agg::clear_own(device, state);
  const block::RunResult result = op::run_morsel(device, state);
  agg::merge_own(device, state);
  device.leader([&] { results[blockIdx.x] = result; });
}

}  // namespace strom::engine::inst
