// Values of expressions without columns, found before any row asks for them. An error that PostgreSQL would raise for
// rows alone is none yet.
#pragma once

#include <optional>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::eval {

struct EarlyValue {
  Datum datum;
  bool is_null;
};

/// In a subtransaction, so not in parallel mode. None: finding the value raised an error that is about values. May
/// throw.
std::optional<EarlyValue> evaluate_early(ExprState* compiled, ExprContext* context);

}  // namespace strom::pg::eval
