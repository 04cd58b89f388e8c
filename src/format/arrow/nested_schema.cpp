// See nested_schema.hpp.
#include "format/arrow/nested_schema.hpp"

#include <string>
#include <utility>

#include "columnar/utf8.hpp"
#include "format/arrow/schema_encode.hpp"

namespace strom::format::arrow {

namespace {

using columnar::Kind;
using columnar::NestedField;
using flatbuffers::FlatBufferBuilder;

using TypeOffset = std::pair<fbs::Type, flatbuffers::Offset<void>>;

fbs::TimeUnit unit_of(const NestedField& field) { return static_cast<fbs::TimeUnit>(field.unit); }  // same order

TypeOffset encode_type(FlatBufferBuilder& builder, const NestedField& field) {
  switch (field.kind) {
    case Kind::kBool: return {fbs::Type::Bool, fbs::CreateBool(builder).Union()};
    case Kind::kInt: return {fbs::Type::Int, fbs::CreateInt(builder, field.bits, true).Union()};
    case Kind::kUInt: return {fbs::Type::Int, fbs::CreateInt(builder, field.bits, false).Union()};
    case Kind::kFloat: {
      const auto precision = field.bits == 64   ? fbs::Precision::Double
                             : field.bits == 32 ? fbs::Precision::Single
                                                : fbs::Precision::Half;
      return {fbs::Type::FloatingPoint, fbs::CreateFloatingPoint(builder, precision).Union()};
    }
    case Kind::kDecimal:
      return {fbs::Type::Decimal, fbs::CreateDecimal(builder, field.precision, field.scale, field.bits).Union()};
    case Kind::kDate: {
      const auto unit = field.bits == 32 ? fbs::DateUnit::Day : fbs::DateUnit::Millisecond;
      return {fbs::Type::Date, fbs::CreateDate(builder, unit).Union()};
    }
    case Kind::kTime: return {fbs::Type::Time, fbs::CreateTime(builder, unit_of(field), field.bits).Union()};
    case Kind::kTimestamp: {
      const auto timezone = field.timezone.empty() ? 0 : builder.CreateString(field.timezone);
      return {fbs::Type::Timestamp, fbs::CreateTimestamp(builder, unit_of(field), timezone).Union()};
    }
    case Kind::kInterval:
      return {fbs::Type::Interval, fbs::CreateInterval(builder, fbs::IntervalUnit::MonthDayNano).Union()};
    case Kind::kBinary: return {fbs::Type::Binary, fbs::CreateBinary(builder).Union()};
    case Kind::kUtf8: return {fbs::Type::Utf8, fbs::CreateUtf8(builder).Union()};
    case Kind::kFixedBinary:
      return {fbs::Type::FixedSizeBinary, fbs::CreateFixedSizeBinary(builder, field.byte_width).Union()};
    case Kind::kList: return {fbs::Type::List, fbs::CreateList(builder).Union()};
    case Kind::kStruct: return {fbs::Type::Struct_, fbs::CreateStruct_(builder).Union()};
    case Kind::kOther: break;
  }
  return {fbs::Type::NONE, 0};
}

flatbuffers::Offset<fbs::Field> encode_field(FlatBufferBuilder& builder, const NestedField& field) {
  std::vector<flatbuffers::Offset<fbs::Field>> children;
  for (const NestedField& child : field.children) children.push_back(encode_field(builder, child));
  const auto name = builder.CreateString(field.name);
  const auto [type, type_offset] = encode_type(builder, field);
  const auto child_vector = builder.CreateVector(children);
  const auto metadata = encode_metadata(builder, field.metadata);
  flatbuffers::Offset<fbs::DictionaryEncoding> dictionary = 0;
  if (field.dictionary >= 0) {
    const auto index_type = fbs::CreateInt(builder, 32, true);
    dictionary = fbs::CreateDictionaryEncoding(builder, field.dictionary, index_type, field.ordered);
  }
  return fbs::CreateField(builder, name, field.nullable, type, type_offset, dictionary, child_vector, metadata);
}

/// Bytes that are no ASCII as \xHH.
std::string printable(const std::string& text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

Status check_field(const NestedField& field) {
  const auto bad = [&](const std::string& what) {
    return Status(ErrorCode::kInvalidParameter, "column \"" + field.name + "\" has " + what);
  };
  if (!columnar::is_utf8(field.name))
    return Status(ErrorCode::kInvalidParameter,
                  "a column's name is not valid UTF-8: \"" + printable(field.name) + "\"");
  for (const auto& [key, value] : field.metadata)
    if (!columnar::is_utf8(key)) return bad("metadata with a key that is not valid UTF-8");
  if (field.kind == Kind::kDecimal && (field.precision < 1 || field.precision > (field.bits == 256 ? 76 : 38))) {
    return bad("decimal precision " + std::to_string(field.precision));
  }
  if (field.kind == Kind::kFixedBinary && field.byte_width < 1) return bad("no byte width");
  if (field.kind == Kind::kList && field.children.size() != 1) return bad("a list without a type of elements");
  if (field.kind == Kind::kOther) return bad("a type that is not written");
  for (const NestedField& child : field.children) STROM_TRY(check_field(child));
  return Status::ok();
}

std::string text_of(const flatbuffers::String* text) { return text == nullptr ? std::string() : text->str(); }

columnar::KeyValues decode_metadata(const flatbuffers::Vector<flatbuffers::Offset<fbs::KeyValue>>* source) {
  columnar::KeyValues out;
  if (source == nullptr) return out;
  for (const fbs::KeyValue* item : *source) out.emplace_back(text_of(item->key()), text_of(item->value()));
  return out;
}

void decode_type(const fbs::Field& from, NestedField& field) {
  field.kind = Kind::kOther;
  switch (from.type_type()) {
    case fbs::Type::Bool: field.kind = Kind::kBool; break;
    case fbs::Type::Int:
      field.bits = from.type_as_Int()->bit_width();
      field.kind = from.type_as_Int()->is_signed() ? Kind::kInt : Kind::kUInt;
      break;
    case fbs::Type::FloatingPoint: {
      const fbs::Precision precision = from.type_as_FloatingPoint()->precision();
      field.bits = precision == fbs::Precision::Double ? 64 : precision == fbs::Precision::Single ? 32 : 16;
      field.kind = Kind::kFloat;
      break;
    }
    case fbs::Type::Decimal:
      field.kind = Kind::kDecimal;
      field.bits = from.type_as_Decimal()->bit_width();
      field.precision = from.type_as_Decimal()->precision();
      field.scale = from.type_as_Decimal()->scale();
      break;
    case fbs::Type::Date:
      field.kind = Kind::kDate;
      field.bits = from.type_as_Date()->unit() == fbs::DateUnit::Day ? 32 : 64;
      break;
    case fbs::Type::Time:
      field.kind = Kind::kTime;
      field.bits = from.type_as_Time()->bit_width();
      field.unit = static_cast<columnar::TimeUnit>(from.type_as_Time()->unit());
      break;
    case fbs::Type::Timestamp:
      field.kind = Kind::kTimestamp;
      field.unit = static_cast<columnar::TimeUnit>(from.type_as_Timestamp()->unit());
      field.timezone = text_of(from.type_as_Timestamp()->timezone());
      break;
    case fbs::Type::Interval:
      if (from.type_as_Interval()->unit() == fbs::IntervalUnit::MonthDayNano) field.kind = Kind::kInterval;
      break;
    case fbs::Type::Binary: field.kind = Kind::kBinary; break;
    case fbs::Type::Utf8: field.kind = Kind::kUtf8; break;
    case fbs::Type::FixedSizeBinary:
      field.kind = Kind::kFixedBinary;
      field.byte_width = from.type_as_FixedSizeBinary()->byte_width();
      break;
    case fbs::Type::List: field.kind = Kind::kList; break;
    case fbs::Type::Struct_: field.kind = Kind::kStruct; break;
    default: break;
  }
}

NestedField decode_field(const fbs::Field& from) {
  NestedField field;
  field.name = text_of(from.name());
  field.nullable = from.nullable();
  field.metadata = decode_metadata(from.custom_metadata());
  if (from.type() != nullptr) decode_type(from, field);
  if (const auto* dictionary = from.dictionary()) {
    field.dictionary = dictionary->id();
    field.ordered = dictionary->is_ordered();
    const auto* index = dictionary->index_type();  // absent: Int32
    if (index != nullptr && (index->bit_width() != 32 || !index->is_signed())) field.kind = Kind::kOther;
  }
  if (from.children() != nullptr) {
    for (const fbs::Field* child : *from.children()) field.children.push_back(decode_field(*child));
  }
  return field;
}

}  // namespace

Status check_writable(const columnar::NestedSchema& schema) {
  for (const auto& [key, value] : schema.metadata)
    if (!columnar::is_utf8(key))
      return Status(ErrorCode::kInvalidParameter,
                    "metadata with a key that is not valid UTF-8: \"" + printable(key) + "\"");
  for (const NestedField& field : schema.fields) STROM_TRY(check_field(field));
  return Status::ok();
}

flatbuffers::Offset<fbs::Schema> encode_schema(FlatBufferBuilder& builder, const columnar::NestedSchema& schema) {
  std::vector<flatbuffers::Offset<fbs::Field>> fields;
  for (const NestedField& field : schema.fields) fields.push_back(encode_field(builder, field));
  const auto field_vector = builder.CreateVector(fields);
  const auto metadata = encode_metadata(builder, schema.metadata);
  return fbs::CreateSchema(builder, fbs::Endianness::Little, field_vector, metadata);
}

columnar::NestedSchema decode_nested_schema(const fbs::Schema& schema) {
  columnar::NestedSchema out;
  if (schema.fields() != nullptr) {
    for (const fbs::Field* field : *schema.fields()) out.fields.push_back(decode_field(*field));
  }
  out.metadata = decode_metadata(schema.custom_metadata());
  return out;
}

}  // namespace strom::format::arrow
