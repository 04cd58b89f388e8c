// See value_range.hpp.
#include "format/arrow/statistics/value_range.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>

#include "base/int128.hpp"
#include "columnar/bounds.hpp"
#include "columnar/text.hpp"
#include "format/arrow/statistics/text_extremes.hpp"

namespace strom::format::arrow {

namespace {

using base::int128;
using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

std::optional<int128> parse_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  constexpr size_t kMostDigits = 39;
  if (text.empty() || text.size() > kMostDigits) return std::nullopt;
  int128 value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const int digit = negative ? '0' - c : c - '0';
    if (__builtin_mul_overflow(value, int128{10}, &value) || __builtin_add_overflow(value, int128{digit}, &value))
      return std::nullopt;
  }
  return value;
}

/// Values as an array. The reader aligns to eight bytes only.
template <class T>
struct Values {
  const char* bytes;
  T operator[](int64_t row) const {
    T value;
    std::memcpy(&value, bytes + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
  }
};

template <class T>
struct Extremes {
  T low, high;
  bool any = false, nan = false;
};

/// A NaN compares false with everything, so it is found on the way.
template <class T>
void take_run(const Values<T>& values, int64_t begin, int64_t end, Extremes<T>& found) {
  T low = found.any ? found.low : values[begin];
  T high = found.any ? found.high : low;
  bool nan = false;
  for (int64_t row = begin; row < end; ++row) {
    const T value = values[row];
    low = value < low ? value : low;
    high = value > high ? value : high;
    if constexpr (std::is_floating_point_v<T>) nan |= std::isnan(value);
  }
  found = {low, high, true, found.nan || nan};
}

uint64_t validity_word(const ColumnView& column, int64_t word) {
  const int64_t bytes = std::min<int64_t>(8, (column.length + 7) / 8 - word * 8);
  uint64_t bits = 0;
  std::memcpy(&bits, column.validity + word * 8, static_cast<size_t>(bytes));
  return bits;
}

/// Calls `take` for runs of rows that are not null: the whole column, or the rows between nulls.
template <class Take>
void for_each_run(const ColumnView& column, Take take) {
  if (column.validity == nullptr) {
    if (column.length > 0) take(int64_t{0}, column.length);
    return;
  }
  for (int64_t begin = 0; begin < column.length; begin += 64) {
    const int64_t end = std::min<int64_t>(begin + 64, column.length);
    uint64_t bits = validity_word(column, begin / 64);
    int64_t row = begin;
    while (bits != 0 && row < end) {
      const int nulls = std::countr_zero(bits);
      row += nulls;
      bits >>= nulls;
      const int valid = std::countr_one(bits);
      if (row < end) take(row, std::min<int64_t>(row + valid, end));
      row += valid;
      bits = valid == 64 ? 0 : bits >> valid;
    }
  }
}

template <class T>
std::string stored_text(T value) {
  if constexpr (std::is_same_v<T, float>) return integer_text(std::bit_cast<int32_t>(value));
  if constexpr (std::is_same_v<T, double>) return integer_text(std::bit_cast<int64_t>(value));
  if constexpr (!std::is_floating_point_v<T>) return integer_text(value);
}

template <class T>
ValueRange range_of(const ColumnView& column) {
  const Values<T> values{static_cast<const char*>(column.values)};
  Extremes<T> found{};
  for_each_run(column, [&](int64_t begin, int64_t end) { take_run(values, begin, end, found); });
  if (!found.any || found.nan) return {};
  return {stored_text(found.low), stored_text(found.high)};
}

/// Takes texts [begin, end) of a column with offsets. False when one is outside of its buffers. Offsets are read only
/// once, because a mapped file can change.
template <class Offset>
bool take_texts(const ColumnView& column, int64_t begin, int64_t end, TextExtremes& found) {
  constexpr int64_t kRows = 256;
  Offset offsets[kRows + 1];
  for (int64_t row = begin; row < end; row += kRows) {
    const int64_t count = std::min(kRows, end - row);
    std::memcpy(offsets, static_cast<const char*>(column.values) + row * static_cast<int64_t>(sizeof(Offset)),
                static_cast<size_t>(count + 1) * sizeof(Offset));
    bool ascend = offsets[0] >= 0 && static_cast<int64_t>(offsets[count]) <= column.data_size;
    for (int64_t i = 0; i < count; ++i) ascend = ascend & (offsets[i] <= offsets[i + 1]);
    if (!ascend) return false;
    found.add_all(column.data, offsets, count, column.data_size);
  }
  return true;
}

/// An empty range for a column with a text outside of its buffers.
ValueRange range_of_texts(const ColumnView& column) {
  TextExtremes found;
  bool is_whole = true;
  for_each_run(column, [&](int64_t begin, int64_t end) {
    if (column.layout == Layout::kUtf8) {
      is_whole = is_whole && take_texts<int32_t>(column, begin, end, found);
      return;
    }
    if (column.layout == Layout::kLargeUtf8) {
      is_whole = is_whole && take_texts<int64_t>(column, begin, end, found);
      return;
    }
    for (int64_t row = begin; row < end && is_whole; ++row) {
      const char* bytes = nullptr;
      int64_t size = 0;
      is_whole = columnar::text_at(column, row, &bytes, &size);
      if (is_whole) found.add({bytes, static_cast<size_t>(size)});
    }
  });
  if (!found.any() || !is_whole) return {};
  ValueRange range{low_text_item(found.low()), high_text_item(found.high())};
  return range.high == kNoValue ? ValueRange() : range;
}

bool covers_texts(const ValueRange& stated, const ValueRange& actual) {
  const auto low = parse_text_item(stated.low), high = parse_text_item(stated.high);
  return low && high && *low <= *parse_text_item(actual.low) && *high >= *parse_text_item(actual.high);
}

/// A number with the value's order.
std::optional<double> real_of(Layout layout, const std::string& text) {
  const auto bits = parse_integer(text);
  if (!bits) return std::nullopt;
  const double value = layout == Layout::kFloat32 ? std::bit_cast<float>(static_cast<uint32_t>(*bits))
                                                  : std::bit_cast<double>(static_cast<uint64_t>(*bits));
  if (std::isnan(value)) return std::nullopt;
  return value;
}

}  // namespace

bool has_value_range(Layout layout) {
  columnar::Bounds::Kind kind;
  return columnar::bounds_kind(layout, &kind);
}

ValueRange value_range(const ColumnView& column) {
  if (!has_value_range(column.layout))
    return column.layout == Layout::kDictionary ? range_of_texts(column) : ValueRange{};
  if (columnar::is_text(column.layout)) return range_of_texts(column);
  return columnar::with_stored_number(column.layout, [&](auto number) { return range_of<decltype(number)>(column); });
}

std::vector<ValueRange> stated_ranges(const Field& field, int batches) {
  const std::string* low = find_value(field.metadata, kMinValuesKey);
  const std::string* high = find_value(field.metadata, kMaxValuesKey);
  if (low == nullptr || high == nullptr || batches == 0) return {};
  const std::vector<std::string_view> lows = split_list(*low), highs = split_list(*high);
  if (lows.size() != static_cast<size_t>(batches) || highs.size() != lows.size()) return {};
  std::vector<ValueRange> ranges;
  ranges.reserve(lows.size());
  for (size_t i = 0; i < lows.size(); ++i) ranges.push_back({std::string(lows[i]), std::string(highs[i])});
  return ranges;
}

bool covers(Layout layout, const ValueRange& stated, const ValueRange& actual) {
  if (stated.low == kNoValue || stated.high == kNoValue || stated == actual) return true;
  if (actual.low == kNoValue) return true;
  if (columnar::Bounds::Kind kind; columnar::bounds_kind(layout, &kind) && kind == columnar::Bounds::Kind::kText)
    return covers_texts(stated, actual);
  if (layout == Layout::kFloat32 || layout == Layout::kFloat64) {
    const auto low = real_of(layout, stated.low), high = real_of(layout, stated.high);
    return low && high && *low <= *real_of(layout, actual.low) && *high >= *real_of(layout, actual.high);
  }
  const auto low = parse_integer(stated.low), high = parse_integer(stated.high);
  return low && high && *low <= *parse_integer(actual.low) && *high >= *parse_integer(actual.high);
}

columnar::KeyValues with_ranges(const columnar::KeyValues& metadata, const std::vector<ValueRange>& ranges) {
  columnar::KeyValues out;
  for (const auto& item : metadata)
    if (item.first != kMinValuesKey && item.first != kMaxValuesKey) out.push_back(item);
  if (ranges.empty()) return out;
  std::string lows, highs;
  for (const ValueRange& range : ranges) {
    lows += (lows.empty() ? "" : ",") + range.low;
    highs += (highs.empty() ? "" : ",") + range.high;
  }
  out.emplace_back(kMinValuesKey, std::move(lows));
  out.emplace_back(kMaxValuesKey, std::move(highs));
  return out;
}

}  // namespace strom::format::arrow
