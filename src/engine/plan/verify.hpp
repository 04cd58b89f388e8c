// Checks a program before it runs: indexes are in range, arguments precede their users, types agree with the registry,
// and pipelines refer only to nodes in their scope.
#pragma once

#include "base/status.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::plan {

Status verify(const Program& program);

}  // namespace strom::engine::plan
