// See schema_decode.hpp.
#include "format/arrow/metadata/schema_decode.hpp"

#include <algorithm>
#include <utility>

#include "columnar/layout.hpp"
#include "format/arrow/metadata/arrow_type.hpp"

namespace strom::format::arrow {

namespace {

using columnar::Field;
using columnar::Layout;

constexpr const char* kUnknownType = "a type that is not known to this version";

/// Adds the entries of one field without its children. False when its type is unknown.
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

  /// Copies text, within a budget: flatbuffers may share one string among millions of references.
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

  /// Decodes a field with its children. Their places count from `counts` on. The verifier's limits on depth and number
  /// of tables bound the recursion and the work.
  Status decode_tree(const fbs::Field& from, EntryCounts* counts, Field* field, FieldPlace* place) {
    STROM_TRY(copy(from.name(), field->name));
    STROM_ASSIGN(field->metadata, decode_metadata(from.custom_metadata()));
    field->nullable = from.nullable();
    if (from.type_type() == fbs::Type::NONE || from.type() == nullptr) return bad_field(index_, "no type");
    STROM_TRY(decode_type(from, *field));
    place->at = *counts;
    if (from.dictionary() == nullptr) return decode_value(from, counts, field, place);
    counts->nodes += 1;
    counts->buffers += 2;  // the batch holds the indexes only
    return decode_encoding(from, field, place);
  }

  /// Decodes entries and children, whether they are in the batch or in a dictionary.
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
      field->index = columnar::integer_layout(bits, type->is_signed());
    }
    field->dictionary_id = encoding->id;
    field->ordered = from.dictionary()->is_ordered();
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

  /// Sets the layout of a type with these parameters; kCorruptFile says which parameter is wrong.
  Status set_layout(Field& field, fbs::Type type, int first, int second, const char* problem) const {
    const ArrowType* row = find_arrow_type(type, first, second);
    if (row == nullptr) return bad_field(index_, problem);
    field.layout = row->layout;
    return Status::ok();
  }

  Status decode_type(const fbs::Field& from, Field& field) {
    constexpr int kUnit = 0;
    const fbs::Type type = from.type_type();
    switch (type) {
      case fbs::Type::Int: return decode_int(*from.type_as_Int(), field);
      case fbs::Type::FloatingPoint:
        return set_layout(field, type, static_cast<int>(from.type_as_FloatingPoint()->precision()), kUnit,
                          "a bad floating-point precision");
      case fbs::Type::Decimal: return decode_decimal(*from.type_as_Decimal(), field);
      case fbs::Type::Date:
        return set_layout(field, type, static_cast<int>(from.type_as_Date()->unit()), kUnit, "a bad date unit");
      case fbs::Type::Time: return decode_time(*from.type_as_Time(), field);
      case fbs::Type::Timestamp:
        field.layout = Layout::kTimestamp;
        STROM_TRY(decode_unit(from.type_as_Timestamp()->unit(), field));
        return copy(from.type_as_Timestamp()->timezone(), field.timezone);
      case fbs::Type::Duration:
        field.layout = Layout::kDuration;
        return decode_unit(from.type_as_Duration()->unit(), field);
      case fbs::Type::Interval:
        return set_layout(field, type, static_cast<int>(from.type_as_Interval()->unit()), kUnit, "a bad interval unit");
      case fbs::Type::FixedSizeBinary:
        field.layout = Layout::kFixedBinary;
        field.byte_width = from.type_as_FixedSizeBinary()->byte_width();
        if (field.byte_width < 0) return bad_field(index_, "a negative byte width");
        if (field.byte_width == 0) field.unsupported = "type FixedSizeBinary(0)";
        return Status::ok();
      case fbs::Type::FixedSizeList:
        field.layout = Layout::kFixedList;
        field.byte_width = from.type_as_FixedSizeList()->list_size();
        return field.byte_width < 0 ? bad_field(index_, "a negative list size") : Status::ok();
      case fbs::Type::Map:
        field.layout = Layout::kMap;
        field.ordered = from.type_as_Map()->keys_sorted();
        return Status::ok();
      case fbs::Type::Union: return decode_union(*from.type_as_Union(), field);
      default: break;
    }
    if (const ArrowType* row = find_arrow_type(type))
      field.layout = row->layout;
    else
      field.unsupported = kUnknownType;
    return Status::ok();
  }

  Status decode_int(const fbs::Int& type, Field& field) const {
    if (type.bit_width() == 128) {  // written by polars; not in Arrow's specification
      field.layout = Layout::kFixedBinary;
      field.byte_width = 16;
      field.unsupported = type.is_signed() ? "type Int128" : "type UInt128";
      return Status::ok();
    }
    return set_layout(field, fbs::Type::Int, type.bit_width(), type.is_signed() ? 1 : 0, "a bad integer width");
  }

  Status decode_decimal(const fbs::Decimal& type, Field& field) const {
    constexpr int32_t kMaxScale = 127;
    field.precision = type.precision();
    field.scale = type.scale();
    STROM_TRY(set_layout(field, fbs::Type::Decimal, type.bit_width(), 0, "a bad decimal width"));
    if (field.precision < 1 || field.precision > columnar::max_precision(field.layout))
      return bad_field(index_, "a bad decimal precision");
    if (field.scale < -kMaxScale || field.scale > kMaxScale) return bad_field(index_, "a bad decimal scale");
    return Status::ok();
  }

  Status decode_time(const fbs::Time& type, Field& field) const {
    field.layout = type.bit_width() == 32 ? Layout::kTime32 : Layout::kTime64;
    STROM_TRY(decode_unit(type.unit(), field));
    const bool is_coarse = type.unit() == fbs::TimeUnit::Second || type.unit() == fbs::TimeUnit::Millisecond;
    if (type.bit_width() != (is_coarse ? 32 : 64)) return bad_field(index_, "a bad time width");
    return Status::ok();
  }

  Status decode_unit(fbs::TimeUnit unit, Field& field) const {
    if (unit < fbs::TimeUnit::Second || unit > fbs::TimeUnit::Nanosecond) return bad_field(index_, "a bad time unit");
    field.unit = static_cast<columnar::TimeUnit>(unit);  // same order
    return Status::ok();
  }

  Status decode_union(const fbs::Union& type, Field& field) const {
    constexpr int64_t kMostChildren = 128;
    STROM_TRY(set_layout(field, fbs::Type::Union, static_cast<int>(type.mode()), 0, "a bad union mode"));
    if (vector_size(type.type_ids()) > kMostChildren) return bad_field(index_, "a bad number of children");
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

bool same_columns(const DecodedSchema& a, const DecodedSchema& b) {
  return std::equal(
             a.schema.fields.begin(), a.schema.fields.end(), b.schema.fields.begin(), b.schema.fields.end(),
             [](const Field& one, const Field& other) { return one.name == other.name && same_type(one, other); }) &&
         a.places == b.places;
}

}  // namespace strom::format::arrow
