// See footer_copy.hpp.
#include "format/arrow/write/footer_copy.hpp"

#include <string>
#include <vector>

namespace strom::format::arrow {

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;

using KeyValueVector = Vector<Offset<fbs::KeyValue>>;

/// Missing vectors and strings stay missing, because readers distinguish them from empty ones.
class FooterCopier {
 public:
  FooterCopier(const FileBytes& file, int64_t size, const FieldMetadata& metadata, FlatBufferBuilder& builder)
      : file_(file), limit_(16 * size + (int64_t{1} << 20)), metadata_(metadata), builder_(builder) {
    for (const auto& [field, items] : metadata_)
      for (const auto& [key, value] : items) limit_ += static_cast<int64_t>(key.size() + value.size()) + 64;
  }

  Status copy(const fbs::Footer& footer) {
    STROM_ASSIGN(const Offset<fbs::Schema> schema, copy_schema(footer.schema()));
    const auto dictionaries = copy_blocks(footer.dictionaries());
    const auto batches = copy_blocks(footer.record_batches());
    const auto metadata = copy_metadata(footer.custom_metadata());
    STROM_TRY(check_size());
    builder_.Finish(fbs::CreateFooter(builder_, footer.version(), schema, dictionaries, batches, metadata));
    return Status::ok();
  }

 private:
  /// A string with many references is copied for each of them.
  Status check_size() const {
    if (static_cast<int64_t>(builder_.GetSize()) <= limit_) return Status::ok();
    return file_.corrupt(0, "the footer's names and metadata are larger than the footer");
  }

  Offset<flatbuffers::String> copy_string(const flatbuffers::String* from) {
    return from == nullptr ? Offset<flatbuffers::String>(0) : builder_.CreateString(from);
  }

  Offset<KeyValueVector> copy_metadata(const KeyValueVector* from) {
    if (from == nullptr) return 0;
    std::vector<Offset<fbs::KeyValue>> items;
    for (const fbs::KeyValue* item : *from) {
      const auto key = copy_string(item->key());
      items.push_back(fbs::CreateKeyValue(builder_, key, copy_string(item->value())));
    }
    return builder_.CreateVector(items);
  }

  Offset<KeyValueVector> new_metadata(const columnar::KeyValues& from) {
    if (from.empty()) return 0;
    std::vector<Offset<fbs::KeyValue>> items;
    for (const auto& [key, value] : from) {
      const auto key_offset = builder_.CreateString(key);
      items.push_back(fbs::CreateKeyValue(builder_, key_offset, builder_.CreateString(value)));
    }
    return builder_.CreateVector(items);
  }

  Offset<Vector<const fbs::Block*>> copy_blocks(const Vector<const fbs::Block*>* from) {
    if (from == nullptr) return 0;
    std::vector<fbs::Block> blocks;
    blocks.reserve(from->size());
    for (flatbuffers::uoffset_t i = 0; i < from->size(); ++i) blocks.push_back(vector_element<fbs::Block>(*from, i));
    return builder_.CreateVectorOfStructs(blocks);
  }

  Result<Offset<fbs::Schema>> copy_schema(const fbs::Schema* from) {
    if (from == nullptr) return file_.corrupt(0, "the footer has no schema");
    Offset<Vector<Offset<fbs::Field>>> field_vector = 0;
    if (from->fields() != nullptr) {
      std::vector<Offset<fbs::Field>> fields;
      for (const fbs::Field* field : *from->fields()) {
        const auto changed = metadata_.find(static_cast<int>(fields.size()));
        STROM_ASSIGN(fields.emplace_back(),
                     copy_field(*field, changed == metadata_.end() ? nullptr : &changed->second));
      }
      field_vector = builder_.CreateVector(fields);
    }
    const auto metadata = copy_metadata(from->custom_metadata());
    Offset<Vector<int64_t>> features = 0;
    if (from->features() != nullptr) {
      std::vector<int64_t> values;
      values.reserve(from->features()->size());
      for (flatbuffers::uoffset_t i = 0; i < from->features()->size(); ++i)
        values.push_back(vector_element<int64_t>(*from->features(), i));
      features = builder_.CreateVector(values);
    }
    return fbs::CreateSchema(builder_, from->endianness(), field_vector, metadata, features);
  }

  Result<Offset<fbs::Field>> copy_field(const fbs::Field& from, const columnar::KeyValues* changed) {
    STROM_TRY(check_size());
    Offset<Vector<Offset<fbs::Field>>> children = 0;
    if (from.children() != nullptr) {
      std::vector<Offset<fbs::Field>> fields;
      for (const fbs::Field* child : *from.children()) {
        STROM_ASSIGN(fields.emplace_back(), copy_field(*child, nullptr));
      }
      children = builder_.CreateVector(fields);
    }
    const auto name = copy_string(from.name());
    STROM_ASSIGN(const Offset<void> type, copy_type(from));
    const auto dictionary = copy_dictionary(from.dictionary());
    const auto metadata = changed != nullptr ? new_metadata(*changed) : copy_metadata(from.custom_metadata());
    return fbs::CreateField(builder_, name, from.nullable(), from.type_type(), type, dictionary, children, metadata);
  }

  Offset<fbs::Int> copy_int(const fbs::Int& from) {
    return fbs::CreateInt(builder_, from.bit_width(), from.is_signed());
  }

  Offset<fbs::DictionaryEncoding> copy_dictionary(const fbs::DictionaryEncoding* from) {
    if (from == nullptr) return 0;
    const Offset<fbs::Int> index = from->index_type() == nullptr ? Offset<fbs::Int>(0) : copy_int(*from->index_type());
    return fbs::CreateDictionaryEncoding(builder_, from->id(), index, from->is_ordered(), from->dictionary_kind());
  }

  Result<Offset<void>> copy_type(const fbs::Field& from) {
    if (from.type() == nullptr) return Offset<void>(0);
    FlatBufferBuilder& b = builder_;
    switch (from.type_type()) {
      case fbs::Type::Null: return fbs::CreateNull(b).Union();
      case fbs::Type::Int: return copy_int(*from.type_as_Int()).Union();
      case fbs::Type::FloatingPoint:
        return fbs::CreateFloatingPoint(b, from.type_as_FloatingPoint()->precision()).Union();
      case fbs::Type::Binary: return fbs::CreateBinary(b).Union();
      case fbs::Type::Utf8: return fbs::CreateUtf8(b).Union();
      case fbs::Type::Bool: return fbs::CreateBool(b).Union();
      case fbs::Type::Decimal: {
        const auto& decimal = *from.type_as_Decimal();
        return fbs::CreateDecimal(b, decimal.precision(), decimal.scale(), decimal.bit_width()).Union();
      }
      case fbs::Type::Date: return fbs::CreateDate(b, from.type_as_Date()->unit()).Union();
      case fbs::Type::Time:
        return fbs::CreateTime(b, from.type_as_Time()->unit(), from.type_as_Time()->bit_width()).Union();
      case fbs::Type::Timestamp: {
        const auto zone = copy_string(from.type_as_Timestamp()->timezone());
        return fbs::CreateTimestamp(b, from.type_as_Timestamp()->unit(), zone).Union();
      }
      case fbs::Type::Interval: return fbs::CreateInterval(b, from.type_as_Interval()->unit()).Union();
      case fbs::Type::List: return fbs::CreateList(b).Union();
      case fbs::Type::Struct_: return fbs::CreateStruct_(b).Union();
      case fbs::Type::Union: return copy_union(*from.type_as_Union());
      case fbs::Type::FixedSizeBinary:
        return fbs::CreateFixedSizeBinary(b, from.type_as_FixedSizeBinary()->byte_width()).Union();
      case fbs::Type::FixedSizeList:
        return fbs::CreateFixedSizeList(b, from.type_as_FixedSizeList()->list_size()).Union();
      case fbs::Type::Map: return fbs::CreateMap(b, from.type_as_Map()->keys_sorted()).Union();
      case fbs::Type::Duration: return fbs::CreateDuration(b, from.type_as_Duration()->unit()).Union();
      case fbs::Type::LargeBinary: return fbs::CreateLargeBinary(b).Union();
      case fbs::Type::LargeUtf8: return fbs::CreateLargeUtf8(b).Union();
      case fbs::Type::LargeList: return fbs::CreateLargeList(b).Union();
      case fbs::Type::RunEndEncoded: return fbs::CreateRunEndEncoded(b).Union();
      case fbs::Type::BinaryView: return fbs::CreateBinaryView(b).Union();
      case fbs::Type::Utf8View: return fbs::CreateUtf8View(b).Union();
      case fbs::Type::ListView: return fbs::CreateListView(b).Union();
      case fbs::Type::LargeListView: return fbs::CreateLargeListView(b).Union();
      case fbs::Type::NONE: break;
    }
    return Status(ErrorCode::kUnsupported,
                  "file \"" + file_.path + "\" has a column of a type that is not known to this version")
        .with_detail("Its footer could not be copied whole.");
  }

  Offset<void> copy_union(const fbs::Union& from) {
    Offset<Vector<int32_t>> ids = 0;
    if (from.type_ids() != nullptr) {
      std::vector<int32_t> values;
      values.reserve(from.type_ids()->size());
      for (flatbuffers::uoffset_t i = 0; i < from.type_ids()->size(); ++i) values.push_back(from.type_ids()->Get(i));
      ids = builder_.CreateVector(values);
    }
    return fbs::CreateUnion(builder_, from.mode(), ids).Union();
  }

  const FileBytes& file_;
  int64_t limit_;
  const FieldMetadata& metadata_;
  FlatBufferBuilder& builder_;
};

}  // namespace

Status copy_footer(const FileBytes& file, const fbs::Footer& footer, int64_t size, const FieldMetadata& metadata,
                   FlatBufferBuilder& builder) {
  return FooterCopier(file, size, metadata, builder).copy(footer);
}

}  // namespace strom::format::arrow
