// Limits of an execution's options. Used by execution.cpp.
#pragma once

#include "engine/exec/execution.hpp"

namespace strom::engine::exec {

/// The options with all values in range, and with a function that runs tiles.
Options within_limits(Options options);

}  // namespace strom::engine::exec
