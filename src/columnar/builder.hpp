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
  explicit ColumnBuilder(const Field& field);

  /// Fixed-width layouts other than kBool: T has exactly the layout's width (16 bytes for kDecimal128).
  template <class T>
  void append_value(T value) {
    push_valid(true);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    values_.insert(values_.end(), bytes, bytes + sizeof(T));
    ++length_;
  }
  void append_bool(bool value);
  /// kUtf8, kLargeUtf8, kFixedBinary (padded with spaces). False, and nothing is appended, when the value does not fit:
  /// longer than byte_width, or the column's text would exceed the 2 GiB that kUtf8 offsets can address.
  bool append_bytes(std::string_view bytes);
  void append_null();

  int64_t length() const { return length_; }
  /// Bytes held, for batch sizing and memory budgets.
  int64_t memory_bytes() const;
  const Field& field() const { return field_; }
  ColumnView view() const;
  void clear();  // keeps capacity

 private:
  void push_valid(bool valid) {
    if (!valid || !validity_.empty()) push_validity_bit(valid);
  }
  void push_validity_bit(bool valid);
  void push_offset();

  Field field_;
  int64_t length_ = 0, null_count_ = 0;
  std::vector<uint8_t> validity_;  // empty until the first null
  std::vector<uint8_t> values_;    // offsets for text, starting with the offset 0 of the first row
  std::vector<char> data_;
};

}  // namespace strom::columnar
