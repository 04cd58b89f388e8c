// The rows of a join's build side on the host, column by column. Used by join_table.cpp and by the indexes over the
// rows (join_index.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/block/tile.hpp"
#include "engine/op/output/text_store.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::op {

/// A column in register layout that owns its values, or a column of a cached image. Texts stay in place, or are in the
/// build's store.
struct HostColumn {
  registry::Phys phys = registry::Phys::kI32;
  std::vector<uint8_t> values;  // phys_size bytes each
  std::vector<uint8_t> flags;   // empty: no nulls
  int64_t rows = 0;
  block::TableColumn cached{};  // if it has data, it replaces the values and flags above

  void append(const void* from, const uint8_t* from_flags, int64_t count);
  void append_constant(const plan::Constant& value, TextStore* texts);
  void clear();
  const uint8_t* data() const {
    return cached.data != nullptr ? static_cast<const uint8_t*>(cached.data) : values.data();
  }
  const void* at(int64_t row) const { return data() + row * registry::phys_size(phys); }
  bool is_null(int64_t row) const {
    const uint8_t* of = cached.data != nullptr ? cached.flags : flags.empty() ? nullptr : flags.data();
    return of != nullptr && (of[row] & block::kNullFlag);
  }
  /// True when some value is unheld.
  bool has_errors() const;
  block::TableColumn view() const;
  int64_t memory() const { return static_cast<int64_t>(values.capacity() + flags.capacity()); }
};

/// Hash of a row of some columns, as tiles compute it.
uint64_t hash_at(const std::vector<const HostColumn*>& columns, int64_t row);
/// Equal values or both null.
bool equal_at(const HostColumn& a, int64_t row_a, const HostColumn& b, int64_t row_b);

struct JoinRows {
  std::vector<HostColumn> keys, payload;
  int64_t count = 0;

  /// Keys first, then payload.
  size_t column_count() const { return keys.size() + payload.size(); }
  HostColumn& column(size_t i) { return i < keys.size() ? keys[i] : payload[i - keys.size()]; }
  const HostColumn& column(size_t i) const { return i < keys.size() ? keys[i] : payload[i - keys.size()]; }

  bool has_null_key(int64_t row) const;
  bool has_same_key(int64_t a, int64_t b) const;
  uint64_t key_hash(int64_t row) const;
  /// Bytes of the first key, if it is a text or a geometry.
  int64_t key_bytes(int64_t row) const {
    const bool has_bytes = keys[0].phys == registry::Phys::kStr && !keys[0].is_null(row);
    return has_bytes ? static_cast<const registry::StrView*>(keys[0].at(row))->len : 0;
  }
  int64_t memory() const;
};

}  // namespace strom::engine::op
