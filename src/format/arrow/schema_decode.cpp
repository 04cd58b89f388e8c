// See schema_decode.hpp.
#include "format/arrow/schema_decode.hpp"

#include <algorithm>

#include "columnar/layout.hpp"

namespace strom::format::arrow {

namespace {

using columnar::Field;
using columnar::Layout;

const char* type_name(fbs::Type type) {
  switch (type) {
    case fbs::Type::Null: return "type Null";
    case fbs::Type::Binary: return "type Binary";
    case fbs::Type::Time: return "type Time";
    case fbs::Type::Interval: return "type Interval";
    case fbs::Type::List: return "type List";
    case fbs::Type::Struct_: return "type Struct";
    case fbs::Type::Union: return "type Union";
    case fbs::Type::FixedSizeList: return "type FixedSizeList";
    case fbs::Type::Map: return "type Map";
    case fbs::Type::Duration: return "type Duration";
    case fbs::Type::LargeBinary: return "type LargeBinary";
    case fbs::Type::LargeList: return "type LargeList";
    case fbs::Type::RunEndEncoded: return "run-end encoding";
    case fbs::Type::BinaryView: return "type BinaryView";
    case fbs::Type::ListView: return "type ListView";
    case fbs::Type::LargeListView: return "type LargeListView";
    default: return "a type that is not known to this version";
  }
}

/// Adds the entries of one field and its children; false when its type is unknown. Recursion and work are bounded by
/// the verifier's limits on depth and number of tables.
bool add_value_entries(const fbs::Field& field, EntryCounts& counts);

bool add_entries(const fbs::Field& field, EntryCounts& counts) {
  if (field.dictionary() == nullptr) return add_value_entries(field, counts);
  counts.nodes += 1;
  counts.buffers += 2;  // the batch holds the indexes only
  return true;
}

/// Of the values, whether they stand in the batch or in a dictionary.
bool add_value_entries(const fbs::Field& field, EntryCounts& counts) {
  counts.nodes += 1;
  bool nested = false;
  switch (field.type_type()) {
    case fbs::Type::Null: break;
    case fbs::Type::Int:
    case fbs::Type::FloatingPoint:
    case fbs::Type::Bool:
    case fbs::Type::Decimal:
    case fbs::Type::Date:
    case fbs::Type::Time:
    case fbs::Type::Timestamp:
    case fbs::Type::Interval:
    case fbs::Type::Duration:
    case fbs::Type::FixedSizeBinary: counts.buffers += 2; break;
    case fbs::Type::Binary:
    case fbs::Type::Utf8:
    case fbs::Type::LargeBinary:
    case fbs::Type::LargeUtf8: counts.buffers += 3; break;
    case fbs::Type::BinaryView:
    case fbs::Type::Utf8View:
      counts.buffers += 2;
      counts.view_groups += 1;
      break;
    case fbs::Type::List:
    case fbs::Type::LargeList:
    case fbs::Type::Map:
      counts.buffers += 2;
      nested = true;
      break;
    case fbs::Type::ListView:
    case fbs::Type::LargeListView:
      counts.buffers += 3;
      nested = true;
      break;
    case fbs::Type::Struct_:
    case fbs::Type::FixedSizeList:
      counts.buffers += 1;
      nested = true;
      break;
    case fbs::Type::RunEndEncoded:
      counts.v4_bitmaps += 1;
      nested = true;
      break;
    case fbs::Type::Union: {
      const auto* type = field.type_as_Union();
      const bool dense = type != nullptr && type->mode() == fbs::UnionMode::Dense;
      counts.buffers += dense ? 2 : 1;
      counts.v4_bitmaps += 1;
      nested = true;
      break;
    }
    default: return false;
  }
  if (!nested || field.children() == nullptr) return true;
  return std::all_of(field.children()->begin(), field.children()->end(),
                     [&](const fbs::Field* child) { return add_entries(*child, counts); });
}

class SchemaDecoder {
 public:
  SchemaDecoder(const FileBytes& file, int64_t offset, int64_t size)
      : file_(file), offset_(offset), text_budget_(16 * size + (int64_t{1} << 20)) {}

  Result<DecodedSchema> decode(const fbs::Schema& source) {
    if (source.endianness() == fbs::Endianness::Big) {
      return Status(ErrorCode::kUnsupported, "file \"" + file_.path + "\" is big-endian")
          .with_detail("Only little-endian Arrow files can be read.");
    }
    if (source.endianness() != fbs::Endianness::Little) return file_.corrupt(offset_, "unknown endianness");
    DecodedSchema out;
    out.places.emplace_back();
    bool placed = true;
    for (int64_t i = 0; i < vector_size(source.fields()); ++i) {
      const fbs::Field& from = *source.fields()->Get(static_cast<flatbuffers::uoffset_t>(i));
      STROM_ASSIGN(Field field, decode_field(from, i));
      STROM_ASSIGN(out.dictionaries.emplace_back(), decode_encoding(from, i, &field));
      EntryCounts place = out.places.back();
      placed = placed && add_entries(from, place);
      if (placed) {
        out.placed_fields = static_cast<int32_t>(i + 1);
      } else if (field.unsupported.empty()) {
        field.unsupported = "a place behind a column of a type that is not known to this version";
      }
      out.schema.fields.push_back(std::move(field));
      out.places.push_back(place);
    }
    STROM_ASSIGN(out.schema.metadata, decode_metadata(source.custom_metadata()));
    return out;
  }

 private:
  Status bad_field(int64_t index, const char* what) const {
    return file_.corrupt(offset_, "field " + std::to_string(index) + " of the schema has " + what);
  }

  /// Copies text. Flatbuffers may share one string among millions of references, hence the budget.
  Status copy(const flatbuffers::String* from, std::string& to) {
    if (from == nullptr) return Status::ok();
    text_budget_ -= from->size();
    if (text_budget_ < 0) return file_.corrupt(offset_, "the schema's names and metadata are larger than the schema");
    to.assign(from->data(), from->size());
    return Status::ok();
  }

  Result<columnar::KeyValues> decode_metadata(const flatbuffers::Vector<flatbuffers::Offset<fbs::KeyValue>>* source) {
    columnar::KeyValues out;
    if (source == nullptr) return out;
    for (const fbs::KeyValue* item : *source) {
      auto& [key, value] = out.emplace_back();
      STROM_TRY(copy(item->key(), key));
      STROM_TRY(copy(item->value(), value));
    }
    return out;
  }

  Result<Field> decode_field(const fbs::Field& from, int64_t index) {
    Field field;
    STROM_TRY(copy(from.name(), field.name));
    STROM_ASSIGN(field.metadata, decode_metadata(from.custom_metadata()));
    field.nullable = from.nullable();
    if (from.type_type() == fbs::Type::NONE || from.type() == nullptr) return bad_field(index, "no type");
    STROM_TRY(decode_type(from, index, field));
    return field;
  }

  /// nullptr for a field that is not dictionary-encoded, or not in a way that can be read.
  Result<std::shared_ptr<const DictionaryEncoding>> decode_encoding(const fbs::Field& from, int64_t index,
                                                                    Field* field) const {
    std::shared_ptr<DictionaryEncoding> encoding;
    if (from.dictionary() == nullptr) return std::shared_ptr<const DictionaryEncoding>();
    field->dictionary = true;
    if (field->unsupported.empty() && field->layout == Layout::kBool) field->unsupported = "type Bool";
    if (!field->unsupported.empty()) {
      field->unsupported = "dictionary encoding of " + field->unsupported;
      return std::shared_ptr<const DictionaryEncoding>();
    }
    encoding = std::make_shared<DictionaryEncoding>();
    encoding->id = from.dictionary()->id();
    if (const fbs::Int* type = from.dictionary()->index_type()) {
      const int bits = type->bit_width();
      if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return bad_field(index, "a bad integer width");
      encoding->index_width = bits / 8;
    }
    encoding->values.schema.fields = {*field};
    encoding->values.schema.fields.front().dictionary = false;
    encoding->values.dictionaries = {nullptr};
    encoding->values.places.resize(2);
    if (add_value_entries(from, encoding->values.places[1])) encoding->values.placed_fields = 1;
    return std::shared_ptr<const DictionaryEncoding>(std::move(encoding));
  }

  Status decode_type(const fbs::Field& from, int64_t index, Field& field) {
    switch (from.type_type()) {
      case fbs::Type::Int: return decode_int(*from.type_as_Int(), index, field);
      case fbs::Type::FloatingPoint: return decode_float(*from.type_as_FloatingPoint(), index, field);
      case fbs::Type::Decimal: return decode_decimal(*from.type_as_Decimal(), index, field);
      case fbs::Type::Timestamp: return decode_timestamp(*from.type_as_Timestamp(), index, field);
      case fbs::Type::Bool: field.layout = Layout::kBool; break;
      case fbs::Type::Utf8: field.layout = Layout::kUtf8; break;
      case fbs::Type::LargeUtf8: field.layout = Layout::kLargeUtf8; break;
      case fbs::Type::Utf8View: field.layout = Layout::kUtf8View; break;
      case fbs::Type::Date: {
        const fbs::DateUnit unit = from.type_as_Date()->unit();
        if (unit != fbs::DateUnit::Day && unit != fbs::DateUnit::Millisecond)
          return bad_field(index, "a bad date unit");
        field.layout = unit == fbs::DateUnit::Day ? Layout::kDate32 : Layout::kDate64;
        break;
      }
      case fbs::Type::FixedSizeBinary:
        field.layout = Layout::kFixedBinary;
        field.byte_width = from.type_as_FixedSizeBinary()->byte_width();
        if (field.byte_width < 0) return bad_field(index, "a negative byte width");
        if (field.byte_width == 0) field.unsupported = "type FixedSizeBinary(0)";
        break;
      default: field.unsupported = type_name(from.type_type());
    }
    return Status::ok();
  }

  Status decode_int(const fbs::Int& type, int64_t index, Field& field) {
    switch (type.bit_width()) {
      case 8: field.layout = type.is_signed() ? Layout::kInt8 : Layout::kUInt8; return Status::ok();
      case 16: field.layout = type.is_signed() ? Layout::kInt16 : Layout::kUInt16; return Status::ok();
      case 32: field.layout = type.is_signed() ? Layout::kInt32 : Layout::kUInt32; return Status::ok();
      case 64:
        field.layout = Layout::kInt64;
        if (!type.is_signed()) field.unsupported = "type UInt64";
        return Status::ok();
      default: return bad_field(index, "a bad integer width");
    }
  }

  Status decode_float(const fbs::FloatingPoint& type, int64_t index, Field& field) {
    switch (type.precision()) {
      case fbs::Precision::Half: field.unsupported = "type Float16"; return Status::ok();
      case fbs::Precision::Single: field.layout = Layout::kFloat32; return Status::ok();
      case fbs::Precision::Double: field.layout = Layout::kFloat64; return Status::ok();
    }
    return bad_field(index, "a bad floating-point precision");
  }

  Status decode_decimal(const fbs::Decimal& type, int64_t index, Field& field) {
    constexpr int32_t kMaxScale = 127;
    field.layout = Layout::kDecimal128;
    field.precision = type.precision();
    field.scale = type.scale();
    switch (type.bit_width()) {
      case 32: field.layout = Layout::kDecimal32; break;
      case 64: field.layout = Layout::kDecimal64; break;
      case 128: break;
      case 256: field.unsupported = "type Decimal" + std::to_string(type.bit_width()); return Status::ok();
      default: return bad_field(index, "a bad decimal width");
    }
    if (field.precision < 1 || field.precision > columnar::max_precision(field.layout))
      return bad_field(index, "a bad decimal precision");
    if (field.scale < -kMaxScale || field.scale > kMaxScale) return bad_field(index, "a bad decimal scale");
    return Status::ok();
  }

  Status decode_timestamp(const fbs::Timestamp& type, int64_t index, Field& field) {
    field.layout = Layout::kTimestamp;
    switch (type.unit()) {
      case fbs::TimeUnit::Second: field.unit = columnar::TimeUnit::kSecond; break;
      case fbs::TimeUnit::Millisecond: field.unit = columnar::TimeUnit::kMilli; break;
      case fbs::TimeUnit::Microsecond: field.unit = columnar::TimeUnit::kMicro; break;
      case fbs::TimeUnit::Nanosecond: field.unit = columnar::TimeUnit::kNano; break;
      default: return bad_field(index, "a bad time unit");
    }
    return copy(type.timezone(), field.timezone);
  }

  const FileBytes& file_;
  int64_t offset_;
  int64_t text_budget_;
};

bool same_type(const Field& a, const Field& b) {
  return a.name == b.name && a.layout == b.layout && a.dictionary == b.dictionary && a.unsupported == b.unsupported &&
         a.precision == b.precision && a.scale == b.scale && a.byte_width == b.byte_width && a.unit == b.unit &&
         a.timezone == b.timezone;
}

}  // namespace

Result<DecodedSchema> decode_schema(const FileBytes& file, int64_t offset, int64_t size, const fbs::Schema& source) {
  return SchemaDecoder(file, offset, size).decode(source);
}

bool same_columns(const DecodedSchema& a, const DecodedSchema& b) {
  return std::equal(a.schema.fields.begin(), a.schema.fields.end(), b.schema.fields.begin(), b.schema.fields.end(),
                    same_type) &&
         a.places == b.places;
}

}  // namespace strom::format::arrow
