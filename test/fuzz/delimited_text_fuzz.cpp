// Any bytes as delimited text and as rows of MySQL's binary protocol: rows, values, inferred types.
#include <cstdint>
#include <string_view>
#include <vector>

#include "format/csv/append_value.hpp"
#include "format/csv/row_reader.hpp"
#include "format/mysqlwire/row_decoder.hpp"

using namespace strom::format;
using strom::columnar::Kind;
using strom::columnar::NestedBuilder;
using strom::columnar::NestedField;

namespace {

/// What was inferred from texts holds all of them.
void read_text(std::string_view text, bool quotes) {
  const csv::Dialect dialect{quotes ? ',' : '\t', quotes ? '"' : '\0', {quotes ? "" : "\\N"}};
  csv::TypeGuess guess;
  csv::RowReader reader(dialect, text);
  while (reader.next()) {
    for (const csv::TextField& field : reader.fields()) guess.observe(field.text);
  }
  NestedField field;
  guess.choose(field, false, false);
  NestedBuilder column(field);
  csv::RowReader again(dialect, text);
  while (again.next()) {
    for (const csv::TextField& value : again.fields()) {
      const csv::Appended appended = csv::append_value(value.text, column);
      if (appended == csv::Appended::kDone) continue;
      if (field.kind != Kind::kUtf8 || appended != csv::Appended::kNotUtf8) __builtin_trap();
    }
  }
}

void read_row(const uint8_t* bytes, size_t size) {
  struct Type {
    mysqlwire::Wire wire;
    Kind kind;
    int32_t bits;
  };
  using mysqlwire::Wire;
  constexpr Type kTypes[] = {
      {Wire::kFixed, Kind::kInt, 32},         {Wire::kTinyBool, Kind::kBool, 0},
      {Wire::kBit, Kind::kUInt, 64},          {Wire::kBitBool, Kind::kBool, 0},
      {Wire::kDecimal, Kind::kDecimal, 128},  {Wire::kText, Kind::kUtf8, 0},
      {Wire::kUuid, Kind::kFixedBinary, 0},   {Wire::kDate, Kind::kDate, 32},
      {Wire::kDateTime, Kind::kTimestamp, 0}, {Wire::kDateText, Kind::kUtf8, 0},
      {Wire::kTime, Kind::kTime, 64},         {Wire::kDuration, Kind::kInterval, 0},
      {Wire::kTimeText, Kind::kUtf8, 0},      {Wire::kGeometry, Kind::kBinary, 0},
  };
  std::vector<NestedField> fields;
  std::vector<mysqlwire::WireColumn> wires;
  for (const Type& type : kTypes) {
    NestedField& field = fields.emplace_back();
    field.kind = type.kind;
    field.bits = type.bits;
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
  std::vector<NestedBuilder> columns;
  columns.reserve(fields.size());
  for (const NestedField& field : fields) columns.emplace_back(field);
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
