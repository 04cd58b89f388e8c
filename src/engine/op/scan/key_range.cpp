#include "engine/op/scan/key_range.hpp"

#include <algorithm>

#include "engine/op/scan/kernel.hpp"

namespace strom::engine::op {

using columnar::Layout;

bool KeyRange::overlaps(int64_t low, int64_t high) const {
  if (lowest > highest || lowest > high || highest < low) return false;
  if (values.empty()) return true;
  const auto first = std::lower_bound(values.begin(), values.end(), low);
  return first != values.end() && *first <= high;
}

namespace {

bool register_value(const columnar::Field& field, __int128 stored, int64_t* value) {
  if (field.layout == Layout::kUInt64) {
    *value = static_cast<int64_t>(stored) ^ INT64_MIN;
    return stored >= 0 && stored <= UINT64_MAX;
  }
  if (stored < INT64_MIN || stored > INT64_MAX) return false;
  const auto word = static_cast<int64_t>(stored);
  int32_t days = 0;
  switch (field.layout) {
    case Layout::kInt8:
    case Layout::kInt16:
    case Layout::kInt32:
    case Layout::kInt64:
    case Layout::kUInt8:
    case Layout::kUInt16:
    case Layout::kUInt32: *value = word; return true;
    case Layout::kDate32:
    case Layout::kDate64: {
      const int64_t unchecked = field.layout == Layout::kDate64 ? op::days_of_millis(word) : word - expr::kUnixToPgDays;
      const bool out_of_range = op::date_in_range(unchecked, days);
      *value = days;
      return !out_of_range;
    }
    case Layout::kTimestamp: return !op::timestamp_in_range(word, field.unit, *value);
    default: return false;
  }
}

}  // namespace

bool register_bounds(const columnar::Field& field, const columnar::Bounds& bounds, int64_t* low, int64_t* high) {
  if (bounds.kind != columnar::Bounds::Kind::kInteger) return false;
  return register_value(field, bounds.low, low) && register_value(field, bounds.high, high);
}

}  // namespace strom::engine::op
