// See schema_decode.hpp.
#include "format/arrow/schema_decode.hpp"

#include <algorithm>
#include <utility>

#include "columnar/layout.hpp"

namespace strom::format::arrow {

namespace {

using columnar::Field;
using columnar::Layout;

constexpr const char* kUnknownType = "a type that is not known to this version";

/// Adds the entries of one field without its children; false when its type is unknown.
bool add_own_entries(const fbs::Field& field, EntryCounts& counts) {
  counts.nodes += 1;
  switch (field.type_type()) {
    case fbs::Type::Null: return true;
    case fbs::Type::Int:
    case fbs::Type::FloatingPoint:
    case fbs::Type::Bool:
    case fbs::Type::Decimal:
    case fbs::Type::Date:
    case fbs::Type::Time:
    case fbs::Type::Timestamp:
    case fbs::Type::Interval:
    case fbs::Type::Duration:
    case fbs::Type::FixedSizeBinary:
    case fbs::Type::List:
    case fbs::Type::LargeList:
    case fbs::Type::Map: counts.buffers += 2; return true;
    case fbs::Type::Binary:
    case fbs::Type::Utf8:
    case fbs::Type::LargeBinary:
    case fbs::Type::LargeUtf8:
    case fbs::Type::ListView:
    case fbs::Type::LargeListView: counts.buffers += 3; return true;
    case fbs::Type::BinaryView:
    case fbs::Type::Utf8View:
      counts.buffers += 2;
      counts.view_groups += 1;
      return true;
    case fbs::Type::Struct_:
    case fbs::Type::FixedSizeList: counts.buffers += 1; return true;
    case fbs::Type::RunEndEncoded: counts.v4_bitmaps += 1; return true;
    case fbs::Type::Union: {
      const auto* type = field.type_as_Union();
      const bool dense = type != nullptr && type->mode() == fbs::UnionMode::Dense;
      counts.buffers += dense ? 2 : 1;
      counts.v4_bitmaps += 1;
      return true;
    }
    default: return false;
  }
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
    for (int64_t i = 0; i < vector_size(source.fields()); ++i) {
      const fbs::Field& from = *source.fields()->Get(static_cast<flatbuffers::uoffset_t>(i));
      index_ = i;
      EntryCounts place = out.places.back();
      Field& field = out.schema.fields.emplace_back();
      STROM_TRY(decode_tree(from, &place, &field, &out.trees.emplace_back()));
      if (placed_) {
        out.placed_fields = static_cast<int32_t>(i + 1);
      } else if (field.unsupported.empty()) {
        field.unsupported = "a place behind a column of a type that is not known to this version";
      }
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

  /// A field with its children, and their places from `counts` on. Recursion and work are bounded by the verifier's
  /// limits on depth and number of tables.
  Status decode_tree(const fbs::Field& from, EntryCounts* counts, Field* field, FieldPlace* place) {
    STROM_TRY(copy(from.name(), field->name));
    STROM_ASSIGN(field->metadata, decode_metadata(from.custom_metadata()));
    field->nullable = from.nullable();
    if (from.type_type() == fbs::Type::NONE || from.type() == nullptr) return bad_field(index_, "no type");
    STROM_TRY(decode_type(from, index_, *field));
    place->at = *counts;
    if (from.dictionary() == nullptr) return decode_value(from, counts, field, place);
    counts->nodes += 1;
    counts->buffers += 2;  // the batch holds the indexes only
    return decode_encoding(from, field, place);
  }

  /// Entries and children, whether they stand in the batch or in a dictionary.
  Status decode_value(const fbs::Field& from, EntryCounts* counts, Field* field, FieldPlace* place) {
    placed_ = add_own_entries(from, *counts) && placed_;
    if (!columnar::is_nested(field->layout) || !field->unsupported.empty()) return Status::ok();
    for (int64_t i = 0; i < vector_size(from.children()); ++i) {
      const fbs::Field& child = *from.children()->Get(static_cast<flatbuffers::uoffset_t>(i));
      STROM_TRY(decode_tree(child, counts, &field->children.emplace_back(), &place->children.emplace_back()));
      const std::string& missing = field->children.back().unsupported;
      if (!missing.empty() && field->unsupported.empty())
        field->unsupported = columnar::layout_name(field->layout) + std::string(" of ") + missing;
    }
    return check_children(field);
  }

  Status check_children(Field* field) const {
    const size_t count = field->children.size();
    switch (field->layout) {
      case Layout::kMap: {
        if (count != 1) return bad_field(index_, "a bad number of children");
        const Field& entry = field->children[0];
        if (entry.dictionary || entry.layout != Layout::kStruct || entry.children.size() != 2)
          return bad_field(index_, "entries of a map that are no pairs");
        return Status::ok();
      }
      case Layout::kRunEndEncoded: {
        if (count != 2) return bad_field(index_, "a bad number of children");
        const Layout ends = field->children[0].layout;
        if (field->children[0].dictionary ||
            (ends != Layout::kInt16 && ends != Layout::kInt32 && ends != Layout::kInt64))
          return bad_field(index_, "a bad type of run ends");
        return Status::ok();
      }
      case Layout::kStruct: return Status::ok();
      case Layout::kSparseUnion:
      case Layout::kDenseUnion:
        if (field->type_ids.empty())
          for (size_t i = 0; i < count; ++i) field->type_ids.push_back(static_cast<int32_t>(i));
        return field->type_ids.size() == count ? Status::ok() : bad_field(index_, "a bad number of children");
      default: return count == 1 ? Status::ok() : bad_field(index_, "a bad number of children");
    }
  }

  Status decode_encoding(const fbs::Field& from, Field* field, FieldPlace* place) {
    auto encoding = std::make_shared<DictionaryEncoding>();
    encoding->id = from.dictionary()->id();
    if (const fbs::Int* type = from.dictionary()->index_type()) {
      const int bits = type->bit_width();
      if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return bad_field(index_, "a bad integer width");
      encoding->index_width = bits / 8;
    }
    DecodedSchema& values = encoding->values;
    values.places.resize(2);
    const bool placed = std::exchange(placed_, true);
    STROM_TRY(decode_value(from, &values.places[1], field, &values.trees.emplace_back()));
    if (std::exchange(placed_, placed)) values.placed_fields = 1;
    values.schema.fields = {*field};
    field->dictionary = true;
    if (field->unsupported.empty())
      place->dictionary = std::move(encoding);
    else
      field->unsupported = "dictionary encoding of " + field->unsupported;
    return Status::ok();
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
      case fbs::Type::Null: field.layout = Layout::kNull; break;
      case fbs::Type::Binary: field.layout = Layout::kBinary; break;
      case fbs::Type::LargeBinary: field.layout = Layout::kLargeBinary; break;
      case fbs::Type::BinaryView: field.layout = Layout::kBinaryView; break;
      case fbs::Type::Time: return decode_time(*from.type_as_Time(), index, field);
      case fbs::Type::Duration:
        field.layout = Layout::kDuration;
        return decode_unit(from.type_as_Duration()->unit(), index, field);
      case fbs::Type::Interval:
        switch (from.type_as_Interval()->unit()) {
          case fbs::IntervalUnit::YearMonth: field.layout = Layout::kIntervalMonths; break;
          case fbs::IntervalUnit::DayTime: field.layout = Layout::kIntervalDayTime; break;
          case fbs::IntervalUnit::MonthDayNano: field.layout = Layout::kIntervalMonthDayNano; break;
          default: return bad_field(index, "a bad interval unit");
        }
        break;
      case fbs::Type::List: field.layout = Layout::kList; break;
      case fbs::Type::LargeList: field.layout = Layout::kLargeList; break;
      case fbs::Type::ListView: field.layout = Layout::kListView; break;
      case fbs::Type::LargeListView: field.layout = Layout::kLargeListView; break;
      case fbs::Type::Map: field.layout = Layout::kMap; break;
      case fbs::Type::Struct_: field.layout = Layout::kStruct; break;
      case fbs::Type::RunEndEncoded: field.layout = Layout::kRunEndEncoded; break;
      case fbs::Type::FixedSizeList:
        field.layout = Layout::kFixedList;
        field.byte_width = from.type_as_FixedSizeList()->list_size();
        if (field.byte_width < 0) return bad_field(index, "a negative list size");
        break;
      case fbs::Type::Union: return decode_union(*from.type_as_Union(), index, field);
      default: field.unsupported = kUnknownType;
    }
    return Status::ok();
  }

  Status decode_int(const fbs::Int& type, int64_t index, Field& field) {
    switch (type.bit_width()) {
      case 8: field.layout = type.is_signed() ? Layout::kInt8 : Layout::kUInt8; return Status::ok();
      case 16: field.layout = type.is_signed() ? Layout::kInt16 : Layout::kUInt16; return Status::ok();
      case 32: field.layout = type.is_signed() ? Layout::kInt32 : Layout::kUInt32; return Status::ok();
      case 64: field.layout = type.is_signed() ? Layout::kInt64 : Layout::kUInt64; return Status::ok();
      case 128:  // of polars; not in Arrow's specification
        field.layout = Layout::kFixedBinary;
        field.byte_width = 16;
        field.unsupported = type.is_signed() ? "type Int128" : "type UInt128";
        return Status::ok();
      default: return bad_field(index, "a bad integer width");
    }
  }

  Status decode_float(const fbs::FloatingPoint& type, int64_t index, Field& field) {
    switch (type.precision()) {
      case fbs::Precision::Half: field.layout = Layout::kFloat16; return Status::ok();
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
      case 256: field.layout = Layout::kDecimal256; break;
      default: return bad_field(index, "a bad decimal width");
    }
    if (field.precision < 1 || field.precision > columnar::max_precision(field.layout))
      return bad_field(index, "a bad decimal precision");
    if (field.scale < -kMaxScale || field.scale > kMaxScale) return bad_field(index, "a bad decimal scale");
    return Status::ok();
  }

  Status decode_timestamp(const fbs::Timestamp& type, int64_t index, Field& field) {
    field.layout = Layout::kTimestamp;
    STROM_TRY(decode_unit(type.unit(), index, field));
    return copy(type.timezone(), field.timezone);
  }

  Status decode_time(const fbs::Time& type, int64_t index, Field& field) const {
    field.layout = type.bit_width() == 32 ? Layout::kTime32 : Layout::kTime64;
    STROM_TRY(decode_unit(type.unit(), index, field));
    const bool is_coarse = type.unit() == fbs::TimeUnit::Second || type.unit() == fbs::TimeUnit::Millisecond;
    if (type.bit_width() != (is_coarse ? 32 : 64)) return bad_field(index, "a bad time width");
    return Status::ok();
  }

  Status decode_unit(fbs::TimeUnit unit, int64_t index, Field& field) const {
    switch (unit) {
      case fbs::TimeUnit::Second: field.unit = columnar::TimeUnit::kSecond; return Status::ok();
      case fbs::TimeUnit::Millisecond: field.unit = columnar::TimeUnit::kMilli; return Status::ok();
      case fbs::TimeUnit::Microsecond: field.unit = columnar::TimeUnit::kMicro; return Status::ok();
      case fbs::TimeUnit::Nanosecond: field.unit = columnar::TimeUnit::kNano; return Status::ok();
    }
    return bad_field(index, "a bad time unit");
  }

  Status decode_union(const fbs::Union& type, int64_t index, Field& field) const {
    constexpr int64_t kMostChildren = 128;
    field.layout = type.mode() == fbs::UnionMode::Dense ? Layout::kDenseUnion : Layout::kSparseUnion;
    if (type.mode() != fbs::UnionMode::Dense && type.mode() != fbs::UnionMode::Sparse)
      return bad_field(index, "a bad union mode");
    if (vector_size(type.type_ids()) > kMostChildren) return bad_field(index, "a bad number of children");
    for (int64_t i = 0; i < vector_size(type.type_ids()); ++i)
      field.type_ids.push_back(vector_element<int32_t>(*type.type_ids(), static_cast<flatbuffers::uoffset_t>(i)));
    return Status::ok();
  }

  const FileBytes& file_;
  int64_t offset_;
  int64_t text_budget_;
  int64_t index_ = 0;   // of the column being decoded
  bool placed_ = true;  // no type so far is unknown
};

}  // namespace

Result<DecodedSchema> decode_schema(const FileBytes& file, int64_t offset, int64_t size, const fbs::Schema& source) {
  return SchemaDecoder(file, offset, size).decode(source);
}

bool same_type(const Field& a, const Field& b) {
  return a.name == b.name && a.layout == b.layout && a.dictionary == b.dictionary && a.unsupported == b.unsupported &&
         a.precision == b.precision && a.scale == b.scale && a.byte_width == b.byte_width && a.unit == b.unit &&
         a.timezone == b.timezone && a.type_ids == b.type_ids &&
         std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(), same_type);
}

bool same_columns(const DecodedSchema& a, const DecodedSchema& b) {
  return std::equal(a.schema.fields.begin(), a.schema.fields.end(), b.schema.fields.begin(), b.schema.fields.end(),
                    same_type) &&
         a.places == b.places;
}

}  // namespace strom::format::arrow
