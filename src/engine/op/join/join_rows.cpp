#include "engine/op/join/join_rows.hpp"

#include <algorithm>
#include <cstring>

#include "engine/block/hash.hpp"

namespace strom::engine::op {

using block::kNullFlag;
using block::TableColumn;
using registry::Phys;

namespace {

uint64_t hash_value_at(const HostColumn& column, int64_t row) {
  uint64_t hash = 0;
  block::with_phys(column.phys, [&](auto zero) {
    using T = decltype(zero);
    hash = column.is_null(row) ? block::kNullHash : block::hash_value(*static_cast<const T*>(column.at(row)));
  });
  return hash;
}

}  // namespace

uint64_t hash_at(const std::vector<const HostColumn*>& columns, int64_t row) {
  uint64_t hash = 0;
  for (size_t k = 0; k < columns.size(); ++k) {
    const uint64_t value = hash_value_at(*columns[k], row);
    hash = k == 0 ? value : block::combine(hash, value);
  }
  return hash;
}

bool equal_at(const HostColumn& a, int64_t row_a, const HostColumn& b, int64_t row_b) {
  if (a.is_null(row_a) || b.is_null(row_b)) return a.is_null(row_a) == b.is_null(row_b);
  bool equal = false;
  block::with_phys(a.phys, [&](auto zero) {
    using T = decltype(zero);
    equal = block::keys_equal(*static_cast<const T*>(a.at(row_a)), *static_cast<const T*>(b.at(row_b)));
  });
  return equal;
}

// ---- columns ----

void HostColumn::append(const void* from, const uint8_t* from_flags, int64_t count) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  values.insert(values.end(), bytes, bytes + count * registry::phys_size(phys));
  if (from_flags != nullptr) {
    if (flags.empty()) flags.resize(rows, 0);
    flags.insert(flags.end(), from_flags, from_flags + count);
  } else if (!flags.empty()) {
    flags.resize(rows + count, 0);
  }
  rows += count;
}

void HostColumn::append_constant(const plan::Constant& value, TextStore* texts) {
  uint8_t bytes[16] = {};
  const bool has_value = !value.is_null && !value.unheld;
  if (has_value && phys == Phys::kStr) {
    registry::StrView view{value.bytes.data(), static_cast<int64_t>(value.bytes.size())};
    texts->own(&view, nullptr, 1);
    std::memcpy(bytes, &view, sizeof view);
  } else if (has_value) {
    std::memcpy(bytes, value.bytes.data(), registry::phys_size(phys));
  }
  const uint8_t flag = value.is_null ? kNullFlag : value.unheld ? block::kErrorFlag : 0;
  append(bytes, flag != 0 ? &flag : nullptr, 1);
}

void HostColumn::clear() {
  values.clear();
  flags.clear();
  rows = 0;
}

bool HostColumn::has_errors() const {
  const uint8_t* of = view().flags;
  return of != nullptr && std::any_of(of, of + rows, [](uint8_t flag) { return (flag & block::kErrorFlag) != 0; });
}

TableColumn HostColumn::view() const {
  if (cached.data != nullptr) return cached;
  return {const_cast<uint8_t*>(values.data()), flags.empty() ? nullptr : const_cast<uint8_t*>(flags.data()), phys};
}

// ---- rows ----

bool JoinRows::has_null_key(int64_t row) const {
  return std::any_of(keys.begin(), keys.end(), [row](const HostColumn& key) { return key.is_null(row); });
}

bool JoinRows::has_same_key(int64_t a, int64_t b) const {
  return std::all_of(keys.begin(), keys.end(), [a, b](const HostColumn& key) { return equal_at(key, a, key, b); });
}

uint64_t JoinRows::key_hash(int64_t row) const {
  uint64_t hash = 0;
  for (size_t k = 0; k < keys.size(); ++k) {
    const uint64_t value = hash_value_at(keys[k], row);
    hash = k == 0 ? value : block::combine(hash, value);
  }
  return hash;
}

int64_t JoinRows::memory() const {
  int64_t bytes = 0;
  for (size_t i = 0; i < column_count(); ++i) bytes += column(i).memory();
  return bytes;
}

}  // namespace strom::engine::op
