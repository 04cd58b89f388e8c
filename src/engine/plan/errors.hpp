// Which expressions can be errors in PostgreSQL. Used where rows are dropped before they are evaluated.
#pragma once

#include "engine/plan/ir.hpp"

namespace strom::engine::plan {

/// True when evaluating expression `id` can be an error in PostgreSQL; can_raise() is true as well where only the
/// engine leaves a row alone, which PostgreSQL has a value for.
bool can_be_an_error(const Program& program, NodeId id);

}  // namespace strom::engine::plan
