// What is known of the values of one column in one record batch without reading them. Made by format readers from a
// file's statistics, used to leave out record batches.
#pragma once

#include <cstdint>
#include <string>

#include "columnar/schema.hpp"
#include "columnar/stored_number.hpp"

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
  const Values values = values_of(layout);
  if (values == Values::kText) {
    *kind = Bounds::Kind::kText;
    return true;
  }
  *kind = values == Values::kReal ? Bounds::Kind::kReal : Bounds::Kind::kInteger;
  return has_stored_number(layout) && values != Values::kSpan;
}

}  // namespace strom::columnar
