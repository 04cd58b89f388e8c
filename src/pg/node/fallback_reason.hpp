// Why a row is a fallback row, as far as its values tell. Used by FallbackEvaluator and FallbackRows.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

enum class FallbackReason : uint8_t {
  kExpression,  // all values are the engine's: one of the expressions
  kUnheld,      // a value that has no place in the engine's form of its type
  kOutOfLine,   // a value that is not in the table's pages
};

class FallbackReasons {
 public:
  /// Counts a row with these values of `columns`. May throw.
  void add(const std::vector<engine::plan::ValueType>& columns, const Datum* values, const bool* nulls);
  /// Counts a row that was made by a join.
  void add_joined() { ++counts_[static_cast<size_t>(FallbackReason::kExpression)]; }
  /// A sentence with the number of rows for each reason.
  std::string text() const;

 private:
  std::array<int64_t, 3> counts_{};
};

}  // namespace strom::pg::node
