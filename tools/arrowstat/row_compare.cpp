// See row_compare.hpp.
#include "arrowstat/row_compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "base/half.hpp"
#include "columnar/layout.hpp"
#include "columnar/load.hpp"
#include "columnar/nested_view.hpp"
#include "columnar/text.hpp"

namespace strom::tool {

using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

namespace {

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int order_reals(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return order(std::isnan(a), std::isnan(b));
  return order(a, b);
}

double real_at(const ColumnView& view, int64_t row) {
  switch (view.layout) {
    case Layout::kFloat16: return base::half_to_float(columnar::load<uint16_t>(view.values, row));
    case Layout::kFloat32: return columnar::load<float>(view.values, row);
    default: return columnar::load<double>(view.values, row);
  }
}

bool is_unsigned(Layout layout) { return columnar::values_of(layout) == columnar::Values::kUnsigned; }

/// An integer of up to 16 bytes.
__int128 integer_at(const ColumnView& view, int64_t row) {
  const auto width = static_cast<size_t>(columnar::value_width(view.layout, view.byte_width));
  const auto* bytes = static_cast<const uint8_t*>(view.values) + row * static_cast<int64_t>(width);
  const bool is_negative = !is_unsigned(view.layout) && (bytes[width - 1] & 0x80) != 0;
  __int128 value = is_negative ? -1 : 0;
  std::memcpy(&value, bytes, width);
  return value;
}

/// As PostgreSQL compares intervals: a month is 30 days.
__int128 interval_nanos(const ColumnView& view, int64_t row) {
  constexpr int64_t kDaysOfMonth = 30, kNanosOfMilli = 1'000'000;
  constexpr __int128 kNanosOfDay = __int128{86'400'000} * kNanosOfMilli;
  const auto* bytes = static_cast<const char*>(view.values);
  switch (view.layout) {
    case Layout::kIntervalMonths: return kNanosOfDay * kDaysOfMonth * columnar::load<int32_t>(bytes, row);
    case Layout::kIntervalDayTime:
      return kNanosOfDay * columnar::load<int32_t>(bytes, 2 * row) +
             __int128{kNanosOfMilli} * columnar::load<int32_t>(bytes, 2 * row + 1);
    default:
      return kNanosOfDay * (kDaysOfMonth * columnar::load<int32_t>(bytes, 4 * row) +
                            columnar::load<int32_t>(bytes, 4 * row + 1)) +
             columnar::load<int64_t>(bytes, 2 * row + 1);
  }
}

}  // namespace

bool RowCompare::can_compare(const Field& field) {
  return !columnar::is_union(field.layout) && std::all_of(field.children.begin(), field.children.end(), can_compare);
}

bool RowCompare::resolve(const Field& field, RowValue& place, const Field** value) {
  *value = &field;
  while (columnar::is_valid(*place.view, place.row) && place.view->layout != Layout::kNull) {
    const bool is_run = place.view->layout == Layout::kRunEndEncoded;
    if (!is_run && (place.view->layout != Layout::kDictionary || place.view->dictionary != nullptr)) return true;
    int child = -1;
    int64_t row = 0;
    if (!columnar::value_row(*place.view, {}, place.row, &child, &row)) {
      is_corrupt_ = true;
      return false;
    }
    place = {&place.view->children[child], row};
    if (is_run) *value = &(*value)->children[1];
  }
  return false;
}

int RowCompare::compare_leaves(RowValue a, RowValue b) {
  const Layout layout = a.view->layout;
  switch (layout) {
    case Layout::kBool: {
      const auto bit = [](const RowValue& place) {
        return static_cast<const uint8_t*>(place.view->values)[place.row >> 3] >> (place.row & 7) & 1;
      };
      return order(bit(a), bit(b));
    }
    case Layout::kFloat16:
    case Layout::kFloat32:
    case Layout::kFloat64: return order_reals(real_at(*a.view, a.row), real_at(*b.view, b.row));
    case Layout::kIntervalMonths:
    case Layout::kIntervalDayTime:
    case Layout::kIntervalMonthDayNano: return order(interval_nanos(*a.view, a.row), interval_nanos(*b.view, b.row));
    case Layout::kDecimal256: {
      constexpr int kWords = 4;
      for (int i = kWords - 1; i >= 0; --i) {
        const auto x = columnar::load<uint64_t>(a.view->values, kWords * a.row + i);
        const auto y = columnar::load<uint64_t>(b.view->values, kWords * b.row + i);
        if (x != y) return i == kWords - 1 ? order(static_cast<int64_t>(x), static_cast<int64_t>(y)) : order(x, y);
      }
      return 0;
    }
    default: break;
  }
  if (!columnar::refers_to_texts(layout) && layout != Layout::kFixedBinary)
    return order(integer_at(*a.view, a.row), integer_at(*b.view, b.row));
  const char *text_a = nullptr, *text_b = nullptr;
  int64_t size_a = 0, size_b = 0;
  if (!columnar::text_at(*a.view, a.row, &text_a, &size_a) || !columnar::text_at(*b.view, b.row, &text_b, &size_b)) {
    is_corrupt_ = true;
    return 0;
  }
  return std::string_view(text_a, static_cast<size_t>(size_a))
      .compare(std::string_view(text_b, static_cast<size_t>(size_b)));
}

int RowCompare::compare_lists(const Field& field, RowValue a, RowValue b) {
  columnar::ChildRows rows_a, rows_b;
  if (!columnar::list_rows(*a.view, a.row, &rows_a) || !columnar::list_rows(*b.view, b.row, &rows_b)) {
    is_corrupt_ = true;
    return 0;
  }
  for (int64_t i = 0; i < std::min(rows_a.count, rows_b.count); ++i) {
    const int order = compare(field.children[0], {rows_a.child, rows_a.begin + i}, {rows_b.child, rows_b.begin + i});
    if (order != 0) return order;
  }
  return order(rows_a.count, rows_b.count);
}

int RowCompare::compare(const Field& field, RowValue a, RowValue b) {
  const Field *value = &field, *other = &field;
  const bool has_a = resolve(field, a, &value), has_b = resolve(field, b, &other);
  if (!has_a || !has_b) return order(!has_a, !has_b);
  if (columnar::is_list(a.view->layout) || a.view->layout == Layout::kMap) return compare_lists(*value, a, b);
  if (a.view->layout != Layout::kStruct) return compare_leaves(a, b);
  for (size_t i = 0; i < value->children.size(); ++i) {
    const int order = compare(value->children[i], {&a.view->children[i], a.row}, {&b.view->children[i], b.row});
    if (order != 0) return order;
  }
  return 0;
}

int RowCompare::operator()(const ColumnView& a, int64_t row_a, const ColumnView& b, int64_t row_b) {
  return compare(field_, {&a, row_a}, {&b, row_b});
}

}  // namespace strom::tool
