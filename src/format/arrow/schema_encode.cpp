// See schema_encode.hpp.
#include "format/arrow/schema_encode.hpp"

#include <string>
#include <utility>
#include <vector>

#include "columnar/layout.hpp"

namespace strom::format::arrow {

namespace {

using columnar::Field;
using columnar::Layout;
using flatbuffers::FlatBufferBuilder;

using TypeOffset = std::pair<fbs::Type, flatbuffers::Offset<void>>;

TypeOffset int_type(FlatBufferBuilder& builder, int bits, bool is_signed) {
  return {fbs::Type::Int, fbs::CreateInt(builder, bits, is_signed).Union()};
}

TypeOffset float_type(FlatBufferBuilder& builder, fbs::Precision precision) {
  return {fbs::Type::FloatingPoint, fbs::CreateFloatingPoint(builder, precision).Union()};
}

TypeOffset date_type(FlatBufferBuilder& builder, fbs::DateUnit unit) {
  return {fbs::Type::Date, fbs::CreateDate(builder, unit).Union()};
}

TypeOffset timestamp_type(FlatBufferBuilder& builder, const Field& field) {
  const auto timezone = field.timezone.empty() ? 0 : builder.CreateString(field.timezone);
  const auto unit = static_cast<fbs::TimeUnit>(field.unit);  // same order
  return {fbs::Type::Timestamp, fbs::CreateTimestamp(builder, unit, timezone).Union()};
}
static_assert(static_cast<int>(columnar::TimeUnit::kSecond) == static_cast<int>(fbs::TimeUnit::Second) &&
              static_cast<int>(columnar::TimeUnit::kNano) == static_cast<int>(fbs::TimeUnit::Nanosecond));

TypeOffset encode_type(FlatBufferBuilder& builder, const Field& field) {
  switch (field.layout) {
    case Layout::kBool: return {fbs::Type::Bool, fbs::CreateBool(builder).Union()};
    case Layout::kInt8: return int_type(builder, 8, true);
    case Layout::kInt16: return int_type(builder, 16, true);
    case Layout::kInt32: return int_type(builder, 32, true);
    case Layout::kInt64: return int_type(builder, 64, true);
    case Layout::kUInt8: return int_type(builder, 8, false);
    case Layout::kUInt16: return int_type(builder, 16, false);
    case Layout::kUInt32: return int_type(builder, 32, false);
    case Layout::kFloat32: return float_type(builder, fbs::Precision::Single);
    case Layout::kFloat64: return float_type(builder, fbs::Precision::Double);
    case Layout::kDecimal32:
    case Layout::kDecimal64:
    case Layout::kDecimal128: {
      const auto bits = static_cast<int32_t>(8 * columnar::value_width(field.layout, 0));
      return {fbs::Type::Decimal, fbs::CreateDecimal(builder, field.precision, field.scale, bits).Union()};
    }
    case Layout::kDate32: return date_type(builder, fbs::DateUnit::Day);
    case Layout::kDate64: return date_type(builder, fbs::DateUnit::Millisecond);
    case Layout::kTimestamp: return timestamp_type(builder, field);
    case Layout::kUtf8: return {fbs::Type::Utf8, fbs::CreateUtf8(builder).Union()};
    case Layout::kLargeUtf8: return {fbs::Type::LargeUtf8, fbs::CreateLargeUtf8(builder).Union()};
    case Layout::kUtf8View: return {fbs::Type::Utf8View, fbs::CreateUtf8View(builder).Union()};
    case Layout::kFixedBinary:
      return {fbs::Type::FixedSizeBinary, fbs::CreateFixedSizeBinary(builder, field.byte_width).Union()};
    default: break;  // see check_writable()
  }
  return {fbs::Type::NONE, 0};
}

}  // namespace

MetadataOffset encode_metadata(FlatBufferBuilder& builder, const columnar::KeyValues& metadata) {
  if (metadata.empty()) return 0;
  std::vector<flatbuffers::Offset<fbs::KeyValue>> items;
  items.reserve(metadata.size());
  for (const auto& [key, value] : metadata) {
    const auto key_offset = builder.CreateString(key);
    items.push_back(fbs::CreateKeyValue(builder, key_offset, builder.CreateString(value)));
  }
  return builder.CreateVector(items);
}

Status check_writable(const columnar::Schema& schema) {
  for (const Field& field : schema.fields) {
    const std::string column = "column \"" + field.name + "\"";
    if (!field.unsupported.empty()) return Status(ErrorCode::kUnsupported, column + " uses " + field.unsupported);
    if (field.layout == Layout::kUtf8View) {
      return Status(ErrorCode::kUnsupported, column + " cannot be written with layout Utf8View")
          .with_hint("Use Utf8 or LargeUtf8.");
    }
    if (!columnar::is_basic(field.layout))
      return Status(ErrorCode::kUnsupported,
                    column + " cannot be written with layout " + columnar::layout_name(field.layout));
    const int most = columnar::max_precision(field.layout);
    if (columnar::is_decimal(field.layout) && (field.precision < 1 || field.precision > most)) {
      return Status(ErrorCode::kInvalidParameter, column + " has decimal precision " + std::to_string(field.precision))
          .with_detail(std::string(columnar::layout_name(field.layout)) + " has 1 to " + std::to_string(most) +
                       " digits.");
    }
    if (field.layout == Layout::kFixedBinary && field.byte_width < 1) {
      return Status(ErrorCode::kInvalidParameter, column + " has byte width " + std::to_string(field.byte_width));
    }
  }
  return Status::ok();
}

flatbuffers::Offset<fbs::Schema> encode_schema(FlatBufferBuilder& builder, const columnar::Schema& schema) {
  std::vector<flatbuffers::Offset<fbs::Field>> fields;
  fields.reserve(schema.fields.size());
  for (const Field& field : schema.fields) {
    const auto name = builder.CreateString(field.name);
    const auto [type, type_offset] = encode_type(builder, field);
    const auto children = builder.CreateVector(std::vector<flatbuffers::Offset<fbs::Field>>{});  // readers expect it
    const auto metadata = encode_metadata(builder, field.metadata);
    fields.push_back(fbs::CreateField(builder, name, field.nullable, type, type_offset, 0, children, metadata));
  }
  const auto field_vector = builder.CreateVector(fields);
  const auto metadata = encode_metadata(builder, schema.metadata);
  return fbs::CreateSchema(builder, fbs::Endianness::Little, field_vector, metadata);
}

}  // namespace strom::format::arrow
