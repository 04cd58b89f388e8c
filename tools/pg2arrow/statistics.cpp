// See statistics.hpp.
#include "pg2arrow/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace strom::pg2arrow {

namespace {

using columnar::Kind;
using columnar::NestedBuilder;

const std::string kLowest = "min_values", kHighest = "max_values", kUnknown = "null";

std::string text_of(__int128 value) {
  if (value == 0) return "0";
  std::string digits;
  // One step below zero at a time, since the lowest number has no counterpart.
  const bool negative = value < 0;
  for (; value != 0; value /= 10) {
    const auto digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

template <class T>
Bounds integer_bounds(const NestedBuilder& column) {
  const auto* bytes = column.values().data();
  bool found = false;
  T lowest{}, highest{};
  for (int64_t row = 0; row < column.length(); ++row) {
    if (!column.is_valid(row)) continue;
    T value;
    std::memcpy(&value, bytes + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
    if (!found || value < lowest) lowest = value;
    if (!found || value > highest) highest = value;
    found = true;
  }
  if (!found) return std::nullopt;
  return std::pair(text_of(lowest), text_of(highest));
}

template <class T, class Bits>
Bounds real_bounds(const NestedBuilder& column) {
  const auto* bytes = column.values().data();
  bool found = false;
  T lowest{}, highest{};
  for (int64_t row = 0; row < column.length(); ++row) {
    T value;
    std::memcpy(&value, bytes + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
    if (!column.is_valid(row) || std::isnan(value)) continue;
    if (!found || value < lowest) lowest = value;
    if (!found || value > highest) highest = value;
    found = true;
  }
  if (!found) return std::nullopt;
  const auto bits = [](T value) {
    Bits number;
    std::memcpy(&number, &value, sizeof(number));
    return text_of(number);
  };
  return std::pair(bits(lowest), bits(highest));
}

const std::string* find(const columnar::KeyValues& metadata, const std::string& key) {
  for (const auto& [name, value] : metadata) {
    if (name == key) return &value;
  }
  return nullptr;
}

void set(columnar::KeyValues& metadata, const std::string& key, std::string value) {
  for (auto& [name, old] : metadata) {
    if (name != key) continue;
    old = std::move(value);
    return;
  }
  metadata.emplace_back(key, std::move(value));
}

std::vector<std::string> parts_of(const std::string* list) {
  std::vector<std::string> parts;
  if (list == nullptr) return parts;
  for (size_t begin = 0; begin <= list->size();) {
    const size_t end = std::min(list->find(',', begin), list->size());
    parts.push_back(list->substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

bool can_have_bounds(const columnar::NestedField& field) {
  if (field.dictionary >= 0) return false;
  switch (field.kind) {
    case Kind::kInt:
    case Kind::kUInt:
    case Kind::kFloat:
    case Kind::kDate:
    case Kind::kTime:
    case Kind::kTimestamp: return true;
    case Kind::kDecimal: return field.bits == 128;
    default: return false;
  }
}

Bounds bounds_of(const NestedBuilder& column) {
  const columnar::NestedField& field = column.field();
  switch (field.kind) {
    case Kind::kFloat:
      return field.bits == 32 ? real_bounds<float, int32_t>(column) : real_bounds<double, int64_t>(column);
    case Kind::kDecimal: return integer_bounds<__int128>(column);
    case Kind::kUInt: return field.bits == 32 ? integer_bounds<uint32_t>(column) : integer_bounds<uint64_t>(column);
    default: break;
  }
  switch (columnar::fixed_width(field)) {
    case 2: return integer_bounds<int16_t>(column);
    case 4: return integer_bounds<int32_t>(column);
    case 8: return integer_bounds<int64_t>(column);
    default: return std::nullopt;
  }
}

std::vector<Bounds> Statistics::of(const std::vector<NestedBuilder>& batch) const {
  std::vector<Bounds> out;
  for (const size_t column : columns_) out.push_back(bounds_of(batch[column]));
  return out;
}

void Statistics::add(std::vector<Bounds> batch) {
  for (size_t i = 0; i < batch.size(); ++i) bounds_[i].push_back(std::move(batch[i]));
}

void Statistics::resume(const columnar::NestedSchema& schema, int64_t batches) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const columnar::KeyValues& metadata = schema.fields[columns_[i]].metadata;
    const auto lowest = parts_of(find(metadata, kLowest)), highest = parts_of(find(metadata, kHighest));
    const bool whole = static_cast<int64_t>(lowest.size()) == batches && lowest.size() == highest.size();
    for (int64_t batch = 0; batch < batches; ++batch) {
      const auto at = static_cast<size_t>(batch);
      const bool known = whole && lowest[at] != kUnknown && highest[at] != kUnknown;
      bounds_[i].push_back(known ? Bounds(std::pair(lowest[at], highest[at])) : std::nullopt);
    }
  }
}

void Statistics::put(columnar::NestedSchema& schema) const {
  for (size_t i = 0; i < columns_.size(); ++i) {
    std::string lowest, highest;
    for (const Bounds& bounds : bounds_[i]) {
      lowest += (lowest.empty() ? "" : ",") + (bounds ? bounds->first : kUnknown);
      highest += (highest.empty() ? "" : ",") + (bounds ? bounds->second : kUnknown);
    }
    columnar::KeyValues& metadata = schema.fields[columns_[i]].metadata;
    set(metadata, kLowest, std::move(lowest));
    set(metadata, kHighest, std::move(highest));
  }
}

}  // namespace strom::pg2arrow
