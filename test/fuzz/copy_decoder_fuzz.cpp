// Fuzzer of the decoder of COPY's binary format: the first bytes choose the columns' types, the rest is what a server
// sends, in pieces.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "format/pgwire/copy_decoder.hpp"

using namespace strom::format::pgwire;
using strom::columnar::Kind;
using strom::columnar::NestedBuilder;
using strom::columnar::NestedField;

namespace {

struct Type {
  Wire wire;
  Kind kind;
  int bits;
};
constexpr Type kTypes[] = {{Wire::kBool, Kind::kBool, 0},           {Wire::kInt, Kind::kInt, 32},
                           {Wire::kInt, Kind::kFloat, 64},          {Wire::kDecimal, Kind::kDecimal, 128},
                           {Wire::kDecimal, Kind::kDecimal, 256},   {Wire::kNumericText, Kind::kUtf8, 0},
                           {Wire::kNumericReal, Kind::kFloat, 64},  {Wire::kText, Kind::kUtf8, 0},
                           {Wire::kJsonb, Kind::kUtf8, 0},          {Wire::kBytes, Kind::kBinary, 0},
                           {Wire::kFixed, Kind::kFixedBinary, 0},   {Wire::kDate, Kind::kDate, 32},
                           {Wire::kTimestamp, Kind::kTimestamp, 0}, {Wire::kInterval, Kind::kInterval, 0},
                           {Wire::kNetwork, Kind::kUtf8, 0},        {Wire::kEnum, Kind::kUtf8, 0},
                           {Wire::kGeometry, Kind::kBinary, 0},     {Wire::kArray, Kind::kList, 0},
                           {Wire::kRecord, Kind::kStruct, 0}};

void add_column(const uint8_t*& at, const uint8_t* end, int depth, std::vector<NestedField>& fields,
                std::vector<WireColumn>& wires) {
  const uint8_t choice = at < end ? *at++ : 0;
  const size_t plain = std::size(kTypes) - 2;
  const Type& type = kTypes[choice % (depth < 3 ? std::size(kTypes) : plain)];
  NestedField field;
  field.kind = type.kind;
  field.bits = type.bits;
  field.byte_width = 16;
  field.precision = type.bits == 256 ? 60 : 20;
  field.scale = choice >> 5;
  WireColumn wire;
  wire.wire = type.wire;
  wire.check_utf8 = choice & 32;
  wire.infinity_is_null = choice & 64;
  if (type.wire == Wire::kEnum) {
    field.dictionary = 0;
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
  std::vector<NestedField> fields;
  std::vector<WireColumn> wires;
  for (int i = 0; i < count; ++i) add_column(at, end, 0, fields, wires);
  std::vector<NestedBuilder> columns;
  columns.reserve(fields.size());
  for (const NestedField& field : fields) columns.emplace_back(field);
  CopyDecoder decoder(wires, &columns);
  while (at < end) {
    const auto bytes = std::min<int64_t>(piece, end - at);
    if (!decoder.feed(at, bytes).is_ok()) return 0;
    at += bytes;
  }
  (void)decoder.finish();
  for (const NestedBuilder& column : columns) {
    if (column.length() != decoder.rows()) __builtin_trap();
  }
  return 0;
}
