// See batch_statistics.hpp.
#include "format/arrow/statistics/batch_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "columnar/bounds.hpp"
#include "columnar/layout.hpp"
#include "format/arrow/statistics/statistics_text.hpp"
#include "format/arrow/statistics/text_extremes.hpp"

namespace strom::format::arrow {

namespace {

using columnar::ColumnBuilder;
using columnar::Layout;

template <class T>
Bounds integer_bounds(const ColumnBuilder& column) {
  if (column.null_count() == column.length()) return std::nullopt;
  const auto* bytes = column.values().data();
  const auto value_at = [bytes](int64_t row) {
    T value;
    std::memcpy(&value, bytes + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
    return value;
  };
  int64_t first = 0;
  while (!column.is_valid(first)) ++first;
  T lowest = value_at(first), highest = lowest;
  const auto add = [&](int64_t row) {
    const T value = value_at(row);
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  };
  if (column.null_count() == 0) {
    for (int64_t row = 0; row < column.length(); ++row) add(row);
  } else {
    for (int64_t row = 0; row < column.length(); ++row)
      if (column.is_valid(row)) add(row);
  }
  return std::pair(integer_text(lowest), integer_text(highest));
}

template <class T, class Bits>
Bounds real_bounds(const ColumnBuilder& column) {
  const auto* bytes = column.values().data();
  bool found = false;
  T lowest{}, highest{};
  for (int64_t row = 0; row < column.length(); ++row) {
    T value;
    std::memcpy(&value, bytes + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
    if (!column.is_valid(row)) continue;
    // PostgreSQL orders NaN above all numbers, other readers do not.
    if (std::isnan(value)) return std::nullopt;
    if (!found || value < lowest) lowest = value;
    if (!found || value > highest) highest = value;
    found = true;
  }
  if (!found) return std::nullopt;
  const auto bits = [](T value) {
    Bits number;
    std::memcpy(&number, &value, sizeof(number));
    return integer_text(number);
  };
  return std::pair(bits(lowest), bits(highest));
}

/// Compares bytes, as PostgreSQL does under C-like collations.
Bounds text_bounds(const ColumnBuilder& column) {
  const auto* offsets = column.values().as<int32_t>();
  const auto* bytes = reinterpret_cast<const char*>(column.data().data());
  TextExtremes found;
  if (column.null_count() == 0) found.add_all(bytes, offsets, column.length(), column.data().size());
  for (int64_t row = 0; column.null_count() > 0 && row < column.length(); ++row) {
    if (column.is_valid(row)) found.add({bytes + offsets[row], static_cast<size_t>(offsets[row + 1] - offsets[row])});
  }
  if (!found.any()) return std::nullopt;
  std::string high = high_text_item(found.high());
  if (high == kNoValue) return std::nullopt;
  return std::pair(low_text_item(found.low()), std::move(high));
}

void set(columnar::KeyValues& metadata, std::string_view key, std::string value) {
  for (auto& [name, old] : metadata) {
    if (name != key) continue;
    old = std::move(value);
    return;
  }
  metadata.emplace_back(key, std::move(value));
}

std::vector<std::string_view> values_of(const columnar::KeyValues& metadata, std::string_view key) {
  const std::string* list = find_value(metadata, key);
  return list == nullptr ? std::vector<std::string_view>() : split_list(*list);
}

void append(std::string& list, std::string_view value) {
  if (!list.empty()) list += ',';
  list += value;
}

}  // namespace

bool can_have_bounds(const columnar::Field& field) {
  if (field.dictionary || !field.unsupported.empty()) return false;
  columnar::Bounds::Kind kind;
  switch (field.layout) {
    case Layout::kDecimal32:
    case Layout::kDecimal64:
    case Layout::kLargeUtf8:
    case Layout::kUtf8View: return false;
    default: return columnar::bounds_kind(field.layout, &kind);
  }
}

Bounds bounds_of(const ColumnBuilder& column) {
  switch (column.field().layout) {
    case Layout::kFloat32: return real_bounds<float, int32_t>(column);
    case Layout::kFloat64: return real_bounds<double, int64_t>(column);
    case Layout::kUtf8: return text_bounds(column);
    case Layout::kUInt8: return integer_bounds<uint8_t>(column);
    case Layout::kUInt16: return integer_bounds<uint16_t>(column);
    case Layout::kUInt32: return integer_bounds<uint32_t>(column);
    case Layout::kUInt64: return integer_bounds<uint64_t>(column);
    default: break;
  }
  switch (columnar::stored_width(column.field())) {
    case 1: return integer_bounds<int8_t>(column);
    case 2: return integer_bounds<int16_t>(column);
    case 4: return integer_bounds<int32_t>(column);
    case 8: return integer_bounds<int64_t>(column);
    case 16: return integer_bounds<__int128>(column);
    default: return std::nullopt;
  }
}

std::vector<Bounds> Statistics::of(const std::vector<ColumnBuilder>& batch) const {
  std::vector<Bounds> out;
  out.reserve(columns_.size());
  for (const size_t column : columns_) out.push_back(bounds_of(batch[column]));
  return out;
}

void Statistics::add(std::vector<Bounds> batch) {
  for (size_t i = 0; i < batch.size(); ++i) bounds_[i].push_back(std::move(batch[i]));
}

std::vector<Bounds> Statistics::of_batch(size_t batch) const {
  std::vector<Bounds> out;
  out.reserve(bounds_.size());
  for (const auto& column : bounds_) out.push_back(column[batch]);
  return out;
}

void Statistics::resume(const columnar::Schema& schema, int64_t batches) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const columnar::KeyValues& metadata = schema.fields[columns_[i]].metadata;
    const auto lowest = values_of(metadata, kMinValuesKey), highest = values_of(metadata, kMaxValuesKey);
    const bool whole = static_cast<int64_t>(lowest.size()) == batches && lowest.size() == highest.size();
    for (int64_t batch = 0; batch < batches; ++batch) {
      const auto at = static_cast<size_t>(batch);
      const bool known = whole && lowest[at] != kNoValue && highest[at] != kNoValue;
      bounds_[i].push_back(known ? Bounds(std::pair(std::string(lowest[at]), std::string(highest[at]))) : std::nullopt);
    }
  }
}

void Statistics::put(columnar::Schema& schema) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    std::string lowest, highest;
    for (const Bounds& bounds : bounds_[i]) {
      append(lowest, bounds ? std::string_view(bounds->first) : kNoValue);
      append(highest, bounds ? std::string_view(bounds->second) : kNoValue);
    }
    columnar::KeyValues& metadata = schema.fields[columns_[i]].metadata;
    set(metadata, kMinValuesKey, std::move(lowest));
    set(metadata, kMaxValuesKey, std::move(highest));
  }
}

}  // namespace strom::format::arrow
