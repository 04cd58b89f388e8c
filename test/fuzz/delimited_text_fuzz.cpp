// Any bytes as delimited text and as rows of MySQL's binary protocol: rows, values, inferred types.
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/csv/append_value.hpp"
#include "format/csv/row_reader.hpp"
#include "format/mysqlwire/row_decoder.hpp"

using namespace strom::format;
using strom::columnar::Layout;
using strom::columnar::ColumnBuilder;
using strom::columnar::Field;

namespace {

/// What was inferred from texts holds all of them.
void read_text(std::string_view text, bool quotes) {
  const csv::Dialect dialect{quotes ? ',' : '\t', quotes ? '"' : '\0', {quotes ? "" : "\\N"}};
  csv::TypeGuess guess;
  csv::RowReader reader(dialect, text);
  while (reader.next()) {
    for (const csv::TextField& field : reader.fields()) guess.observe(field.text);
  }
  Field field;
  guess.choose(field, false, false);
  ColumnBuilder column(field);
  csv::RowReader again(dialect, text);
  while (again.next()) {
    for (const csv::TextField& value : again.fields()) {
      const csv::Appended appended = csv::append_value(value.text, column);
      if (appended == csv::Appended::kDone) continue;
      if (field.layout != Layout::kUtf8 || appended != csv::Appended::kNotUtf8) __builtin_trap();
    }
  }
}

void read_row(const uint8_t* bytes, size_t size) {
  struct Type {
    mysqlwire::Wire wire;
    Layout layout;
  };
  using mysqlwire::Wire;
  constexpr Type kTypes[] = {
      {Wire::kFixed, Layout::kInt32},         {Wire::kTinyBool, Layout::kBool},
      {Wire::kBit, Layout::kUInt64},          {Wire::kBitBool, Layout::kBool},
      {Wire::kDecimal, Layout::kDecimal128},  {Wire::kText, Layout::kUtf8},
      {Wire::kUuid, Layout::kFixedBinary},   {Wire::kDate, Layout::kDate32},
      {Wire::kDateTime, Layout::kTimestamp}, {Wire::kDateText, Layout::kUtf8},
      {Wire::kTime, Layout::kTime64},         {Wire::kDuration, Layout::kIntervalMonthDayNano},
      {Wire::kTimeText, Layout::kUtf8},      {Wire::kGeometry, Layout::kBinary},
  };
  std::vector<Field> fields;
  std::vector<mysqlwire::WireColumn> wires;
  for (const Type& type : kTypes) {
    Field& field = fields.emplace_back();
    field.layout = type.layout;
    field.precision = 20;
    field.scale = 4;
    field.byte_width = 16;
    mysqlwire::WireColumn& wire = wires.emplace_back();
    wire.wire = type.wire;
    wire.width = type.wire == Wire::kFixed ? 4 : 1;
    wire.is_sized = type.wire != Wire::kFixed && type.wire != Wire::kTinyBool;
    wire.decimals = 6;
    wire.has_time = true;
  }
  std::vector<ColumnBuilder> columns;
  columns.reserve(fields.size());
  for (const Field& field : fields) columns.emplace_back(field);
  mysqlwire::RowDecoder decoder(wires, &columns);
  (void)decoder.append(bytes, static_cast<int64_t>(size));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_text(text, true);
  read_text(text, false);
  read_row(data, size);
  return 0;
}
