// Tells which expressions can be errors in PostgreSQL. Used where rows are dropped before expressions are evaluated.
#pragma once

#include "engine/plan/ir.hpp"

namespace strom::engine::plan {

/// True when evaluating expression `id` can be an error in PostgreSQL. can_raise() is also true where only the engine
/// cannot evaluate a row and PostgreSQL has a value.
bool can_be_an_error(const Program& program, NodeId id);

}  // namespace strom::engine::plan
