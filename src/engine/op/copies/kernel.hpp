// Copies bytes from one place of a device's memory to another. Single source.
#pragma once

#include "engine/block/copies.hpp"
#include "engine/platform/platform.hpp"

namespace strom::engine::op {

template <class P>
STROM_INLINE void run_copy(P p, const block::BlockCopy& copy) {
  auto* const to = static_cast<uint64_t*>(copy.to);
  const auto* const from = static_cast<const uint64_t*>(copy.from);
  p.for_each(static_cast<int>(copy.bytes / sizeof(uint64_t)), [&](int i) { to[i] = from[i]; });
}

}  // namespace strom::engine::op
