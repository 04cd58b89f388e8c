// Values of expressions without columns that a program takes as input: parameters of the statement, stable functions,
// and facts about the rows of sub-queries. Used by QueryRun. C++ code: throws PostgresError.
#pragma once

#include <optional>
#include <vector>

#include "pg/eval/early_value.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/node/subplans.hpp"

namespace strom::pg::node {

class Parameters {
 public:
  Parameters(CustomScanState* state, const PlanSpec& plan) : state_(state), plan_(plan) {}

  /// Values indexed by Constant::param. Facts about sub-queries are marked as unheld, because they are not known yet.
  std::vector<engine::plan::Constant> evaluate(const Subplans& subplans);

 private:
  ExprState* compiled(int param);
  std::optional<eval::EarlyValue> value_of(ExprState* expression, bool may_raise);
  engine::plan::Constant evaluate(const engine::plan::Constant& constant);

  CustomScanState* state_;
  const PlanSpec& plan_;
  std::vector<ExprState*> expressions_;  // by Constant::param; compiled at first use
};

}  // namespace strom::pg::node
