// See schema_encode.hpp.
#include "format/arrow/metadata/schema_encode.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/hex.hpp"
#include "columnar/layout.hpp"
#include "columnar/utf8.hpp"
#include "format/arrow/metadata/arrow_type.hpp"

namespace strom::format::arrow {

namespace {

using columnar::Field;
using columnar::Layout;
using flatbuffers::FlatBufferBuilder;

static_assert(static_cast<int>(columnar::TimeUnit::kSecond) == static_cast<int>(fbs::TimeUnit::Second) &&
              static_cast<int>(columnar::TimeUnit::kNano) == static_cast<int>(fbs::TimeUnit::Nanosecond));

fbs::TimeUnit unit_of(const Field& field) { return static_cast<fbs::TimeUnit>(field.unit); }

/// The parameters of a field's type. Types that are not listed here have none.
flatbuffers::Offset<void> encode_parameters(FlatBufferBuilder& builder, const ArrowType& row, const Field& field) {
  switch (row.type) {
    case fbs::Type::Int: return fbs::CreateInt(builder, row.first, row.second != 0).Union();
    case fbs::Type::FloatingPoint:
      return fbs::CreateFloatingPoint(builder, static_cast<fbs::Precision>(row.first)).Union();
    case fbs::Type::Decimal: return fbs::CreateDecimal(builder, field.precision, field.scale, row.first).Union();
    case fbs::Type::Date: return fbs::CreateDate(builder, static_cast<fbs::DateUnit>(row.first)).Union();
    case fbs::Type::Time: return fbs::CreateTime(builder, unit_of(field), row.first).Union();
    case fbs::Type::Timestamp: {
      const auto timezone = field.timezone.empty() ? 0 : builder.CreateString(field.timezone);
      return fbs::CreateTimestamp(builder, unit_of(field), timezone).Union();
    }
    case fbs::Type::Duration: return fbs::CreateDuration(builder, unit_of(field)).Union();
    case fbs::Type::Interval: return fbs::CreateInterval(builder, static_cast<fbs::IntervalUnit>(row.first)).Union();
    case fbs::Type::FixedSizeBinary: return fbs::CreateFixedSizeBinary(builder, field.byte_width).Union();
    case fbs::Type::FixedSizeList: return fbs::CreateFixedSizeList(builder, field.byte_width).Union();
    case fbs::Type::Map: return fbs::CreateMap(builder, field.ordered).Union();
    case fbs::Type::Union: {
      const auto ids = builder.CreateVector(field.type_ids);
      return fbs::CreateUnion(builder, static_cast<fbs::UnionMode>(row.first), ids).Union();
    }
    default: break;
  }
  const auto start = builder.StartTable();
  return builder.EndTable(start);
}

flatbuffers::Offset<fbs::Field> encode_field(FlatBufferBuilder& builder, const Field& field) {
  std::vector<flatbuffers::Offset<fbs::Field>> children;
  children.reserve(field.children.size());
  for (const Field& child : field.children) children.push_back(encode_field(builder, child));
  const auto name = builder.CreateString(field.name);
  const ArrowType& row = arrow_type(field.layout);
  const auto parameters = encode_parameters(builder, row, field);
  const auto child_vector = builder.CreateVector(children);  // readers expect it
  const auto metadata = encode_metadata(builder, field.metadata);
  flatbuffers::Offset<fbs::DictionaryEncoding> dictionary = 0;
  if (field.dictionary) {
    const ArrowType& index = arrow_type(field.index);
    const auto index_type = fbs::CreateInt(builder, index.first, index.second != 0);
    dictionary = fbs::CreateDictionaryEncoding(builder, field.dictionary_id, index_type, field.ordered);
  }
  return fbs::CreateField(builder, name, field.nullable, row.type, parameters, dictionary, child_vector, metadata);
}

/// The text, with bytes beyond ASCII as \xHH.
std::string printable(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += "\\x";
      base::append_hex(&out, c);
    }
  }
  return out;
}

size_t least_children(Layout layout) {
  switch (columnar::form_of(layout)) {
    case columnar::Form::kListOffsets:
    case columnar::Form::kListViews:
    case columnar::Form::kFixedList: return 1;
    case columnar::Form::kRunEnds: return 2;
    default: return 0;
  }
}

Status check_field(const Field& field) {
  const auto bad = [&](const std::string& what, ErrorCode code = ErrorCode::kInvalidParameter) {
    return Status(code, "column \"" + field.name + "\" has " + what);
  };
  if (!columnar::is_utf8(field.name))
    return Status(ErrorCode::kInvalidParameter,
                  "a column's name is not valid UTF-8: \"" + printable(field.name) + "\"");
  for (const auto& [key, value] : field.metadata)
    if (!columnar::is_utf8(key)) return bad("metadata with a key that is not valid UTF-8");
  if (!field.unsupported.empty()) return bad(field.unsupported, ErrorCode::kUnsupported);
  if (arrow_type(field.layout).type == fbs::Type::NONE) return bad("a type that is not written");
  const int most = columnar::max_precision(field.layout);
  if (columnar::is_decimal(field.layout) && (field.precision < 1 || field.precision > most)) {
    return bad("decimal precision " + std::to_string(field.precision))
        .with_detail(std::string(columnar::layout_name(field.layout)) + " has 1 to " + std::to_string(most) +
                     " digits.");
  }
  if (field.layout == Layout::kFixedBinary && field.byte_width < 1)
    return bad("byte width " + std::to_string(field.byte_width));
  if (field.children.size() < least_children(field.layout)) return bad("a list without a type of elements");
  for (const Field& child : field.children) STROM_TRY(check_field(child));
  return Status::ok();
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
  for (const auto& [key, value] : schema.metadata)
    if (!columnar::is_utf8(key))
      return Status(ErrorCode::kInvalidParameter,
                    "metadata with a key that is not valid UTF-8: \"" + printable(key) + "\"");
  for (const Field& field : schema.fields) STROM_TRY(check_field(field));
  return Status::ok();
}

flatbuffers::Offset<fbs::Schema> encode_schema(FlatBufferBuilder& builder, const columnar::Schema& schema) {
  std::vector<flatbuffers::Offset<fbs::Field>> fields;
  fields.reserve(schema.fields.size());
  for (const Field& field : schema.fields) fields.push_back(encode_field(builder, field));
  const auto field_vector = builder.CreateVector(fields);
  const auto metadata = encode_metadata(builder, schema.metadata);
  return fbs::CreateSchema(builder, fbs::Endianness::Little, field_vector, metadata);
}

}  // namespace strom::format::arrow
