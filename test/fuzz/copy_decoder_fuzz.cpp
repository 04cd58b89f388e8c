// Fuzzer of the decoder of COPY's binary format: the first bytes choose the columns' types, the rest is what a server
// sends, in pieces.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "format/pgwire/copy_decoder.hpp"

using namespace strom::format::pgwire;
using strom::columnar::Layout;
using strom::columnar::ColumnBuilder;
using strom::columnar::Field;

namespace {

struct Type {
  Wire wire;
  Layout layout;
};
constexpr Type kTypes[] = {{Wire::kBool, Layout::kBool},           {Wire::kInt, Layout::kInt32},
                           {Wire::kInt, Layout::kFloat64},          {Wire::kDecimal, Layout::kDecimal128},
                           {Wire::kDecimal, Layout::kDecimal256},   {Wire::kNumericText, Layout::kUtf8},
                           {Wire::kNumericReal, Layout::kFloat64},  {Wire::kText, Layout::kUtf8},
                           {Wire::kJsonb, Layout::kUtf8},          {Wire::kBytes, Layout::kBinary},
                           {Wire::kFixed, Layout::kFixedBinary},   {Wire::kDate, Layout::kDate32},
                           {Wire::kTimestamp, Layout::kTimestamp}, {Wire::kInterval, Layout::kIntervalMonthDayNano},
                           {Wire::kNetwork, Layout::kUtf8},        {Wire::kEnum, Layout::kUtf8},
                           {Wire::kGeometry, Layout::kBinary},     {Wire::kArray, Layout::kList},
                           {Wire::kRecord, Layout::kStruct}};

void add_column(const uint8_t*& at, const uint8_t* end, int depth, std::vector<Field>& fields,
                std::vector<WireColumn>& wires) {
  const uint8_t choice = at < end ? *at++ : 0;
  const size_t plain = std::size(kTypes) - 2;
  const Type& type = kTypes[choice % (depth < 3 ? std::size(kTypes) : plain)];
  Field field;
  field.layout = type.layout;
  field.byte_width = 16;
  field.precision = type.layout == Layout::kDecimal256 ? 60 : 20;
  field.scale = choice >> 5;
  WireColumn wire;
  wire.wire = type.wire;
  wire.check_utf8 = choice & 32;
  wire.infinity_is_null = choice & 64;
  if (type.wire == Wire::kEnum) {
    field.dictionary = true;
    wire.labels = std::make_shared<strom::columnar::Labels>(std::vector<std::string>{"", "a"});
  }
  const int children = type.wire == Wire::kArray ? 1 : type.wire == Wire::kRecord ? choice >> 6 : 0;
  for (int i = 0; i < children; ++i) add_column(at, end, depth + 1, field.children, wire.children);
  fields.push_back(std::move(field));
  wires.push_back(std::move(wire));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* at = data;
  const uint8_t* const end = data + size;
  if (size < 2) return 0;
  const int count = *at++ % 6;
  const int piece = *at++ + 1;
  std::vector<Field> fields;
  std::vector<WireColumn> wires;
  for (int i = 0; i < count; ++i) add_column(at, end, 0, fields, wires);
  std::vector<ColumnBuilder> columns;
  columns.reserve(fields.size());
  for (const Field& field : fields) columns.emplace_back(field);
  CopyDecoder decoder(wires, &columns);
  while (at < end) {
    const auto bytes = std::min<int64_t>(piece, end - at);
    if (!decoder.feed(at, bytes).is_ok()) return 0;
    at += bytes;
  }
  (void)decoder.finish();
  for (const ColumnBuilder& column : columns) {
    if (column.length() != decoder.rows()) __builtin_trap();
  }
  return 0;
}
