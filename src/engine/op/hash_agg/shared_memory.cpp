#include "engine/op/hash_agg/shared_memory.hpp"

#include <algorithm>

#include "engine/agg/accumulate.hpp"
#include "engine/op/hash_agg/accumulator.hpp"

namespace strom::engine::op {

namespace {

constexpr size_t kArrayAlign = 16;

/// Returns the bytes that `groups` groups take.
uint32_t place_arrays(size_t groups, std::vector<block::OwnArrays>* arrays) {
  size_t used = 0;
  const auto take = [&](size_t item) {
    const size_t at = used;
    used += (groups * item + kArrayAlign - 1) / kArrayAlign * kArrayAlign;
    return static_cast<uint32_t>(at);
  };
  take(sizeof(uint32_t));  // rows
  for (block::OwnArrays& own : *arrays) {
    own.nulls = take(sizeof(uint32_t));
    own.values = take(static_cast<size_t>(own.value_bytes));
  }
  return static_cast<uint32_t>(used);
}

}  // namespace

void lay_out_shared_memory(Assembly* assembly) {
  if (!std::all_of(assembly->aggregates.begin(), assembly->aggregates.end(), agg::is_shareable)) return;
  size_t group_bytes = sizeof(uint32_t);
  for (size_t a = 0; a < assembly->aggregates.size(); ++a) {
    block::OwnArrays& own = assembly->own_arrays[a];
    own.value_bytes = agg::accumulator_size(assembly->aggregates[a]);
    own.identity = accumulator_identity(assembly->aggregates[a]);
    group_bytes += sizeof(uint32_t) + static_cast<size_t>(own.value_bytes);
  }
  size_t groups = platform::kOwnBytes / group_bytes;
  if (assembly->direct_groups > 0) groups = std::min<size_t>(groups, assembly->direct_groups);
  while (groups > 0 && place_arrays(groups, &assembly->own_arrays) > platform::kOwnBytes) --groups;
  assembly->code.own_groups = static_cast<uint32_t>(groups);
  assembly->code.own_bytes = place_arrays(groups, &assembly->own_arrays);
}

}  // namespace strom::engine::op
