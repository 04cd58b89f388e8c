// What is known of the values of one column in one record batch without reading them. Made by format readers from a
// file's statistics, used to leave out record batches.
#pragma once

#include <cstdint>
#include <string>

#include "columnar/schema.hpp"

namespace strom::columnar {

/// Every value of the column that is neither NULL nor NaN lies between these two, which need not occur themselves.
struct Bounds {
  enum class Kind : uint8_t {
    kInteger,  // layouts that store integers: dates and times in the column's unit, decimals without their scale
    kReal,
    kText,
  };
  Kind kind = Kind::kInteger;
  __int128 low = 0, high = 0;
  double low_real = 0, high_real = 0;
  std::string low_text, high_text;
  bool high_is_prefix = false;  // kText: values that begin with `high_text` belong as well
};

/// How statistics of a layout are held. False for layouts that have none.
constexpr bool bounds_kind(Layout layout, Bounds::Kind* kind) {
  switch (layout) {
    case Layout::kInt8:
    case Layout::kInt16:
    case Layout::kInt32:
    case Layout::kInt64:
    case Layout::kUInt8:
    case Layout::kUInt16:
    case Layout::kUInt32:
    case Layout::kUInt64:
    case Layout::kDecimal32:
    case Layout::kDecimal64:
    case Layout::kDecimal128:
    case Layout::kDate32:
    case Layout::kDate64:
    case Layout::kTime32:
    case Layout::kTime64:
    case Layout::kTimestamp: *kind = Bounds::Kind::kInteger; return true;
    case Layout::kFloat32:
    case Layout::kFloat64: *kind = Bounds::Kind::kReal; return true;
    case Layout::kUtf8:
    case Layout::kLargeUtf8:
    case Layout::kUtf8View: *kind = Bounds::Kind::kText; return true;
    default: return false;
  }
}

}  // namespace strom::columnar
