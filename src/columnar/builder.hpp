// Growable columns in Arrow memory layout: what every producer of record batches (tools, the benchmark's generator,
// inner sides that come from PostgreSQL plans) appends to.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "columnar/batch.hpp"
#include "columnar/schema.hpp"

namespace strom::columnar {

/// One growing column. append_* must match the field's layout. view() stays valid until the next append or clear.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(const Field& field) : field_(field) {}

  template <class T>
  void append_value(T value) {  // fixed-width layouts: T has exactly the layout's width
    push_valid(true);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    values_.insert(values_.end(), bytes, bytes + sizeof(T));
    ++length_;
  }
  void append_bool(bool value);
  void append_bytes(std::string_view bytes);  // kUtf8, kLargeUtf8, kFixedBinary (padded with spaces)
  void append_null();

  int64_t length() const { return length_; }
  /// Bytes held, for batch sizing and memory budgets.
  int64_t memory_bytes() const;
  const Field& field() const { return field_; }
  ColumnView view() const;
  void clear();  // keeps capacity

 private:
  void push_valid(bool valid);

  Field field_;
  int64_t length_ = 0, null_count_ = 0;
  std::vector<uint8_t> validity_;  // empty until the first null
  std::vector<uint8_t> values_;
  std::vector<char> data_;
};

}  // namespace strom::columnar
