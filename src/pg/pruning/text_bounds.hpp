// Compares bounds of texts with values. Private to src/pg/pruning.
#pragma once

#include <string_view>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::pruning {

constexpr int kNotEqual = 6, kBeginsWith = 7;  // in addition to the strategies of B-trees

/// Bounds of texts, in the order of bytes.
struct TextBounds {
  std::string_view low, high;
  bool high_is_prefix;

  bool all_below(std::string_view value) const { return high < value && !(high_is_prefix && value.starts_with(high)); }
  bool may_hold(int strategy, std::string_view value) const {
    switch (strategy) {
      case BTLessStrategyNumber: return low < value;
      case BTLessEqualStrategyNumber: return low <= value;
      case BTEqualStrategyNumber: return low <= value && !all_below(value);
      case BTGreaterEqualStrategyNumber: return !all_below(value);
      case BTGreaterStrategyNumber: return !all_below(value) && (high_is_prefix || high != value);
      case kNotEqual: return high_is_prefix || low != high || low != value;
      case kBeginsWith: return (low <= value || low.starts_with(value)) && !all_below(value);
      default: return true;
    }
  }
};

}  // namespace strom::pg::pruning
