// Reading the generator's batches back, row by row and by column name, for its unit tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ssb/copy_format.hpp"
#include "ssb/tables.hpp"

namespace strom::ssb {

/// One row of a batch; valid inside for_each_row's callback.
class Row {
 public:
  Row(const columnar::BatchView& batch, const std::unordered_map<std::string, size_t>& places, int64_t at)
      : batch_(batch), places_(places), at_(at) {}

  int32_t number(const std::string& name) const {
    return static_cast<const int32_t*>(column(name, columnar::Layout::kInt32).values)[at_];
  }
  int64_t big(const std::string& name) const {
    return static_cast<const int64_t*>(column(name, columnar::Layout::kInt64).values)[at_];
  }
  std::string_view text(const std::string& name) const {
    const columnar::ColumnView& text = column(name, columnar::Layout::kUtf8);
    const auto* offsets = static_cast<const int32_t*>(text.values);
    return {text.data + offsets[at_], static_cast<size_t>(offsets[at_ + 1] - offsets[at_])};
  }

 private:
  const columnar::ColumnView& column(const std::string& name, columnar::Layout layout) const {
    const columnar::ColumnView& found = batch_.columns[places_.at(name)];
    if (found.layout != layout) throw std::logic_error(name + " has another layout");
    return found;
  }

  const columnar::BatchView& batch_;
  const std::unordered_map<std::string, size_t>& places_;
  int64_t at_;
};

template <class Visit>
void for_each_row(const Plan& plan, Table table, const Visit& visit) {
  std::unordered_map<std::string, size_t> places;
  for (const columnar::Field& field : table_schema(table).fields) places.emplace(field.name, places.size());
  BatchBuilder builder(table);
  for (int64_t number = 0; number < batch_count(plan, table); ++number) {
    builder.build(plan, number);
    const columnar::BatchView batch = builder.view();
    for (int64_t row = 0; row < batch.rows; ++row) visit(Row(batch, places, row));
  }
}

/// All values of a table as bytes, independent of its batches.
inline std::string fingerprint(const Plan& plan, Table table) {
  std::string bytes;
  BatchBuilder builder(table);
  for (int64_t number = 0; number < batch_count(plan, table); ++number) {
    builder.build(plan, number);
    append_copy_rows(builder.view(), bytes);
  }
  return bytes;
}

}  // namespace strom::ssb
