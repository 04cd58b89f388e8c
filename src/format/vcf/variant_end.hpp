// Where a variant ends, as indexes define it. Used by the columns, and by vcf2arrow for regions.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace strom::format::vcf {

/// The value of END in INFO; 0: there is none.
inline int64_t end_in_info(std::string_view info) {
  constexpr std::string_view kFirst = "END=", kLater = ";END=";
  size_t at = 0;
  if (info.starts_with(kFirst)) {
    at = kFirst.size();
  } else {
    at = info.find(kLater);
    if (at == std::string_view::npos) return 0;
    at += kLater.size();
  }
  int64_t end = 0;
  return std::from_chars(info.data() + at, info.data() + info.size(), end).ec == std::errc() ? end : 0;
}

/// The last position of a variant that begins at `position`: END, or the last position of REF if END is missing or
/// impossible.
inline int64_t last_position(int64_t position, size_t reference_bytes, int64_t end) {
  return end >= std::max<int64_t>(position, 1) ? end : position + static_cast<int64_t>(reference_bytes) - 1;
}

/// The same as a value of the column of ends.
inline int32_t last_position_value(int64_t position, size_t reference_bytes, int64_t end) {
  const int64_t last = last_position(position, reference_bytes, end);
  return static_cast<int32_t>(std::clamp<int64_t>(last, INT32_MIN, INT32_MAX));
}

}  // namespace strom::format::vcf
