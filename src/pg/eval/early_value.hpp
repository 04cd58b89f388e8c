// Values of expressions without columns, computed before any row needs them. PostgreSQL would raise errors of such an
// expression only for rows, so an error is not raised here.
#pragma once

#include <optional>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::eval {

struct EarlyValue {
  Datum datum;
  bool is_null;
};

/// Evaluates in a subtransaction, so it must not be called in parallel mode. nullopt: evaluation failed with an error
/// about values. May throw.
std::optional<EarlyValue> evaluate_early(ExprState* compiled, ExprContext* context);

}  // namespace strom::pg::eval
