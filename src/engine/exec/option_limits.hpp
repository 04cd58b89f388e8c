// What the options of an execution may be. Used by execution.cpp.
#pragma once

#include "engine/exec/execution.hpp"

namespace strom::engine::exec {

/// The options with values in their ranges, and with what runs tiles.
Options within_limits(Options options);

}  // namespace strom::engine::exec
