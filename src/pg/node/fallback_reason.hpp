// Why a row is a fallback row, judged by its values. Used by FallbackEvaluator and FallbackRows.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

enum class FallbackReason : uint8_t {
  kExpression,  // all values are representable: some expression is the reason
  kUnheld,      // a value that the engine's type cannot represent
  kOutOfLine,   // a value that is not stored in the table's pages
};

class FallbackReasons {
 public:
  /// Counts a row with these values of `columns`. May throw.
  void add(const std::vector<engine::plan::ValueType>& columns, const Datum* values, const bool* nulls);
  /// Counts a row that a join has made.
  void add_joined() { ++counts_[static_cast<size_t>(FallbackReason::kExpression)]; }
  /// A sentence that gives the number of rows for each reason.
  std::string text() const;

 private:
  std::array<int64_t, 3> counts_{};
};

}  // namespace strom::pg::node
