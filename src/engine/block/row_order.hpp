// Whether tile code keeps the rows of a morsel in the order in which the source has them. Single source and host.
#pragma once

#include "engine/block/tile.hpp"

namespace strom::engine::block {

/// Segment::join of a filter behind which the order counts, on a CPU: the next segment takes rows from the end of its
/// buffer, where the oldest ones have to be then. Of segments that carry nothing but rows.
inline constexpr uint16_t kKeepsOrder = 1;

}  // namespace strom::engine::block
