// Whether tile code keeps the rows of a morsel in the order of the source. Single source and host.
#pragma once

#include "engine/block/tile.hpp"

namespace strom::engine::block {

/// Segment::join of a filter before segments where the order counts, on a CPU. The next segment takes rows from the end
/// of its buffer, so the oldest rows must be moved there. For segments that carry nothing but rows.
inline constexpr uint16_t kKeepsOrder = 1;

}  // namespace strom::engine::block
