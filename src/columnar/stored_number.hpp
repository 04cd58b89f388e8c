// Calls generic code with the C++ type in which a column's numbers are stored.
#pragma once

#include <cstdint>

#include "columnar/layout.hpp"

namespace strom::columnar {

/// Returns f(T{}) where the values of `layout` are numbers stored as T: integers, decimals of up to 128 bits, dates,
/// times and lengths of time, floats of 32 and 64 bits. For other layouts, a default value of f's result.
template <class F>
auto with_stored_number(Layout layout, F f) -> decltype(f(int8_t{})) {
  const int64_t width = value_width(layout, 0);
  switch (values_of(layout)) {
    case Values::kUnsigned:
      if (width == 1) return f(uint8_t{});
      if (width == 2) return f(uint16_t{});
      return width == 4 ? f(uint32_t{}) : f(uint64_t{});
    case Values::kReal:
      if (width == 4) return f(float{});
      return width == 8 ? f(double{}) : decltype(f(int8_t{})){};
    case Values::kSigned:
    case Values::kDecimal:
    case Values::kMoment:
    case Values::kSpan:
      switch (width) {
        case 1: return f(int8_t{});
        case 2: return f(int16_t{});
        case 4: return f(int32_t{});
        case 8: return f(int64_t{});
        case 16: return f(static_cast<__int128>(0));
        default: return {};
      }
    default: return {};
  }
}

/// True for the layouts that with_stored_number() knows.
constexpr bool has_stored_number(Layout layout) {
  const int64_t width = value_width(layout, 0);
  switch (values_of(layout)) {
    case Values::kUnsigned: return true;
    case Values::kReal: return width == 4 || width == 8;
    case Values::kSigned:
    case Values::kDecimal:
    case Values::kMoment:
    case Values::kSpan: return width <= 16;
    default: return false;
  }
}

}  // namespace strom::columnar
