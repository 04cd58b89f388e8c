// Checks a program before it runs: indexes in range, arguments precede users, types agree with the registry,
// pipelines only refer to what is in their scope.
#pragma once

#include "base/status.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::plan {

Status verify(const Program& program);

}  // namespace strom::engine::plan
