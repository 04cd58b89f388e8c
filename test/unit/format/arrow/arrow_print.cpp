// See arrow_print.hpp.
#include "arrow_print.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "columnar/layout.hpp"
#include "columnar/nested_view.hpp"
#include "columnar/text.hpp"

namespace strom::test {

using columnar::ColumnView;
using columnar::Layout;

namespace {

template <class T>
T load(const ColumnView& column, int64_t row) {
  T value;
  std::memcpy(&value, static_cast<const char*>(column.values) + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

std::string print_float(double value) {
  char text[40];
  snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

std::string print_int128(unsigned __int128 bits) {
  const bool negative = (bits >> 127) != 0;
  if (negative) bits = -bits;
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(bits % 10)));
    bits /= 10;
  } while (bits != 0);
  return (negative ? "-" : "") + digits;
}

std::string quote(const char* bytes, int64_t count) {
  std::string out = "\"";
  for (int64_t i = 0; i < count; ++i) {
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
      out += static_cast<char>(c);
    } else {
      char escaped[8];
      snprintf(escaped, sizeof(escaped), "\\x%02X", c);
      out += escaped;
    }
  }
  return out + "\"";
}

std::string print_text(const ColumnView& column, int64_t row) {
  const char* bytes = nullptr;
  int64_t count = 0;
  return columnar::text_at(column, row, &bytes, &count) ? quote(bytes, count) : "INVALID";
}

}  // namespace

std::string print_value(const ColumnView& column, int64_t row) {
  if (!columnar::is_valid(column, row)) return "NULL";
  switch (column.layout) {
    case Layout::kBool:
      return (static_cast<const uint8_t*>(column.values)[row >> 3] >> (row & 7)) & 1 ? "true" : "false";
    case Layout::kInt8: return std::to_string(load<int8_t>(column, row));
    case Layout::kInt16: return std::to_string(load<int16_t>(column, row));
    case Layout::kInt32:
    case Layout::kDate32: return std::to_string(load<int32_t>(column, row));
    case Layout::kInt64:
    case Layout::kDate64:
    case Layout::kTimestamp: return std::to_string(load<int64_t>(column, row));
    case Layout::kUInt8: return std::to_string(load<uint8_t>(column, row));
    case Layout::kUInt16: return std::to_string(load<uint16_t>(column, row));
    case Layout::kUInt32: return std::to_string(load<uint32_t>(column, row));
    case Layout::kFloat32: return print_float(load<float>(column, row));
    case Layout::kFloat64: return print_float(load<double>(column, row));
    case Layout::kDecimal32: return print_int128(static_cast<unsigned __int128>(load<int32_t>(column, row)));
    case Layout::kDecimal64: return print_int128(static_cast<unsigned __int128>(load<int64_t>(column, row)));
    case Layout::kDecimal128: return print_int128(load<unsigned __int128>(column, row));
    case Layout::kUtf8:
    case Layout::kLargeUtf8:
    case Layout::kUtf8View:
    case Layout::kFixedBinary:
    case Layout::kDictionary:
    case Layout::kBinary:
    case Layout::kLargeBinary:
    case Layout::kBinaryView: return print_text(column, row);
    default: break;
  }
  return "?";
}

std::string print_field(const columnar::Field& field) {
  static constexpr const char* kUnits[] = {"s", "ms", "us", "ns"};
  if (!field.unsupported.empty()) return field.name + " unsupported(" + field.unsupported + ")";
  std::string out = field.name + " " + columnar::layout_name(field.layout);
  if (columnar::is_decimal(field.layout)) {
    out += "(" + std::to_string(field.precision) + "," + std::to_string(field.scale) + ")";
  } else if (field.layout == Layout::kTimestamp) {
    out += std::string("(") + kUnits[static_cast<int>(field.unit)] + (field.timezone.empty() ? "" : ",") +
           field.timezone + ")";
  } else if (field.layout == Layout::kFixedBinary) {
    out += "(" + std::to_string(field.byte_width) + ")";
  }
  return out;
}

Result<std::string> print_file(const format::arrow::FileReader& reader) {
  std::string out;
  const auto& fields = reader.schema().fields;
  for (int batch = 0; batch < reader.batch_count(); ++batch) {
    STROM_ASSIGN(const int64_t rows, reader.batch_rows(batch));
    out += "-- batch " + std::to_string(batch) + ": " + std::to_string(rows) + " rows\n";
    std::vector<format::arrow::LoadedColumn> columns;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (!fields[i].unsupported.empty() || !columnar::has_engine_loader(fields[i].layout) ||
          columnar::is_binary(fields[i].layout))
        continue;
      STROM_ASSIGN(columns.emplace_back(), reader.column(batch, static_cast<int>(i)));
    }
    for (int64_t row = 0; row < rows && !columns.empty(); ++row) {
      for (size_t i = 0; i < columns.size(); ++i) out += (i > 0 ? "," : "") + print_value(columns[i], row);
      out += "\n";
    }
  }
  return out;
}

uint64_t touch_column(const ColumnView& column) {
  uint64_t sum = 0;
  const auto add = [&sum](const char* bytes, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sum = sum * 31 + static_cast<unsigned char>(bytes[i]);
  };
  const bool is_text = columnar::refers_to_texts(column.layout);
  if (column.validity != nullptr) add(reinterpret_cast<const char*>(column.validity), (column.length + 7) / 8);
  const int64_t width = columnar::value_width(column.layout, column.byte_width);
  const bool one_more = columnar::has_offsets(column.layout) || columnar::has_list_offsets(column.layout);
  const int64_t entries = column.length + (one_more && column.length > 0 ? 1 : 0);
  add(static_cast<const char*>(column.values),
      column.layout == Layout::kBool ? (column.length + 7) / 8 : entries * width);
  // Hostile offsets can make every row as long as the whole text: read all bytes of the first rows, both ends of
  // others.
  int64_t budget = 1 << 20;
  for (int64_t row = 0; is_text && row < column.length; ++row) {
    const char* bytes = nullptr;
    int64_t count = 0;
    if (!columnar::text_at(column, row, &bytes, &count)) continue;
    if (count <= budget) {
      add(bytes, count);
      budget -= count;
    } else {
      add(bytes, 1);
      add(bytes + count - 1, 1);
    }
  }
  return sum;
}

uint64_t touch_parts(const columnar::Field& field, const ColumnView& column) {
  uint64_t sum = touch_column(column);
  // Rows of layouts without buffers are as many as the file says.
  const int64_t rows = column.child_count > 0 ? std::min<int64_t>(column.length, 4096) : 0;
  for (int64_t row = 0; row < rows && column.layout != Layout::kStruct; ++row) {
    columnar::ChildRows found;
    int child = 0;
    int64_t child_row = 0;
    if (!columnar::is_valid(column, row)) continue;
    if (columnar::is_list(column.layout) || column.layout == Layout::kMap) {
      if (columnar::list_rows(column, row, &found)) sum = sum * 31 + static_cast<uint64_t>(found.begin + found.count);
    } else if (columnar::value_row(column, field.type_ids, row, &child, &child_row)) {
      sum = sum * 31 + static_cast<uint64_t>(child) + static_cast<uint64_t>(child_row);
    }
  }
  for (int i = 0; i < column.child_count; ++i) {
    const bool is_dictionary = column.layout == Layout::kDictionary;
    sum = sum * 31 + touch_parts(is_dictionary ? field : field.children[static_cast<size_t>(i)], column.children[i]);
  }
  return sum;
}

uint64_t touch_file(const format::arrow::FileReader& reader) {
  uint64_t sum = 0;
  for (int batch = 0; batch < reader.batch_count(); ++batch) {
    const auto rows = reader.batch_rows(batch);
    const auto location = reader.batch_location(batch);
    if (rows.is_ok()) sum += static_cast<uint64_t>(rows.value());
    if (location.is_ok()) sum += static_cast<uint64_t>(location.value().body_size);
    for (size_t i = 0; i < reader.schema().fields.size(); ++i) {
      const auto column = reader.column(batch, static_cast<int>(i));
      const auto bytes = reader.column_bytes(batch, static_cast<int>(i));
      if (column.is_ok()) sum = sum * 31 + touch_parts(reader.schema().fields[i], column.value());
      if (bytes.is_ok()) sum += static_cast<uint64_t>(bytes.value());
    }
  }
  return sum;
}

}  // namespace strom::test
