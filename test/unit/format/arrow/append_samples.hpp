// Rows that tests add to Arrow files and know again: numbers, and texts that are made of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "columnar/schema.hpp"
#include "columnar/builder.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::arrow {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using columnar::Schema;
using Rows = std::vector<int32_t>;

inline Schema test_schema() {
  Field number, text;
  number.name = "n";
  text.name = "s";
  text.layout = Layout::kUtf8;
  Schema schema;
  schema.fields = {number, text};
  return schema;
}

inline std::vector<ColumnBuilder> make_rows(const Schema& schema, int from, int count) {
  std::vector<ColumnBuilder> columns;
  columns.reserve(schema.fields.size());
  for (const Field& field : schema.fields) columns.emplace_back(field);
  for (int i = from; i < from + count; ++i) {
    columns[0].append(int32_t{i});
    const std::string text = "row " + std::to_string(i);
    if (i % 3 == 0)
      columns[1].append_null();
    else
      columns[1].append_bytes(text.data(), static_cast<int64_t>(text.size()));
  }
  return columns;
}

/// The numbers; one negative number when something is wrong.
inline Rows rows_of(const FileReader& reader) {
  Rows rows;
  for (int batch = 0; batch < reader.batch_count(); ++batch) {
    const int64_t count = reader.batch_rows(batch).value();
    const auto column = reader.column(batch, 0);
    const auto text = reader.column(batch, 1);
    if (!column.is_ok() || !text.is_ok()) return {-1};
    const auto* values = static_cast<const int32_t*>(column.value().values);
    for (int64_t i = 0; i < count; ++i) {
      rows.push_back(values[i]);
      const auto* validity = text.value().validity;
      const bool is_null = validity != nullptr && (validity[i >> 3] >> (i & 7) & 1) == 0;
      if (is_null != (values[i] % 3 == 0)) return {-2};
      const auto* offsets = static_cast<const int32_t*>(text.value().values);
      const std::string wanted = is_null ? "" : "row " + std::to_string(values[i]);
      if (std::string(static_cast<const char*>(text.value().data) + offsets[i],
                      static_cast<size_t>(offsets[i + 1] - offsets[i])) != wanted)
        return {-3};
    }
  }
  return rows;
}

}  // namespace strom::format::arrow
