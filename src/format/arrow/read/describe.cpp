// See describe.hpp.
#include "format/arrow/read/describe.hpp"

#include <string_view>

#include "base/hex.hpp"
#include "format/arrow/metadata/file_tail.hpp"
#include "format/arrow/metadata/message.hpp"

namespace strom::format::arrow {

namespace {

/// Escapes quotes and control characters, which would break the line.
std::string quoted(const flatbuffers::String* text) {
  std::string out = "\"";
  if (text != nullptr) {
    for (const char c : text->string_view()) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\') {
        out += '\\';
        out += c;
      } else if (byte < 0x20 || byte == 0x7F) {
        out += "\\x";
        base::append_hex(&out, c);
      } else {
        out += c;
      }
    }
  }
  return out + "\"";
}

template <class Vector, class Show>
std::string list_of(const Vector* source, Show show) {
  std::string out;
  for (int64_t i = 0; i < vector_size(source); ++i) {
    out += (out.empty() ? "" : ", ") + show(static_cast<flatbuffers::uoffset_t>(i));
  }
  return "[" + out + "]";
}

std::string metadata_of(const flatbuffers::Vector<flatbuffers::Offset<fbs::KeyValue>>* source) {
  return list_of(source, [&](auto i) {
    const fbs::KeyValue* item = source->Get(i);
    return "{KeyValue: key=" + quoted(item->key()) + " value=" + quoted(item->value()) + "}";
  });
}

const char* version_of(fbs::MetadataVersion version) {
  constexpr const char* kNames[] = {"V1", "V2", "V3", "V4", "V5"};
  const auto number = static_cast<size_t>(version);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

std::string type_of(const fbs::Field& field) {
  const auto unit = [](auto value) { return std::string(fbs::EnumNameTimeUnit(value)); };
  switch (field.type_type()) {
    case fbs::Type::Int: {
      const auto* type = field.type_as_Int();
      return (type->is_signed() ? "Int" : "Uint") + std::to_string(type->bit_width());
    }
    case fbs::Type::FloatingPoint: {
      const auto precision = field.type_as_FloatingPoint()->precision();
      return precision == fbs::Precision::Double   ? "Float64"
             : precision == fbs::Precision::Single ? "Float32"
                                                   : "Float16";
    }
    case fbs::Type::Decimal: {
      const auto* type = field.type_as_Decimal();
      return "Decimal" + std::to_string(type->bit_width()) + ": precision=" + std::to_string(type->precision()) +
             ", scale=" + std::to_string(type->scale());
    }
    case fbs::Type::Date: return std::string("Date: unit=") + fbs::EnumNameDateUnit(field.type_as_Date()->unit());
    case fbs::Type::Time: {
      const auto* type = field.type_as_Time();
      return "Time" + std::to_string(type->bit_width()) + ": unit=" + unit(type->unit());
    }
    case fbs::Type::Timestamp: {
      const auto* type = field.type_as_Timestamp();
      return "Timestamp: unit=" + unit(type->unit()) +
             (type->timezone() == nullptr ? std::string() : ", timezone=" + quoted(type->timezone()));
    }
    case fbs::Type::Interval:
      return std::string("Interval: unit=") + fbs::EnumNameIntervalUnit(field.type_as_Interval()->unit());
    case fbs::Type::Duration: return "Duration: unit=" + unit(field.type_as_Duration()->unit());
    case fbs::Type::FixedSizeBinary:
      return "FixedSizeBinary: byteWidth=" + std::to_string(field.type_as_FixedSizeBinary()->byte_width());
    case fbs::Type::FixedSizeList:
      return "FixedSizeList: listSize=" + std::to_string(field.type_as_FixedSizeList()->list_size());
    case fbs::Type::Struct_: return "Struct";
    default: {
      const char* name = fbs::EnumNameType(field.type_type());
      return *name == '\0' ? "unknown" : name;
    }
  }
}

std::string field_text(const fbs::Field& field) {
  std::string out = "{Field: name=" + quoted(field.name()) + ", nullable=" + (field.nullable() ? "true" : "false") +
                    ", type={" + (field.type() == nullptr ? "none" : type_of(field)) + "}";
  if (const auto* dictionary = field.dictionary()) {
    const auto* index = dictionary->index_type();
    out += ", dictionary={DictionaryEncoding: id=" + std::to_string(dictionary->id()) + ", indexType={" +
           (index == nullptr || index->is_signed() ? "Int" : "Uint") +
           std::to_string(index == nullptr ? 32 : index->bit_width()) +
           "}, isOrdered=" + (dictionary->is_ordered() ? "true" : "false") + "}";
  }
  const auto* children = field.children();
  out += ", children=" + list_of(children, [&](auto i) { return field_text(*children->Get(i)); });
  return out + ", custom_metadata=" + metadata_of(field.custom_metadata()) + "}";
}

std::string block_text(const fbs::Block& block) {
  return "{Block: offset=" + std::to_string(block.offset()) +
         ", metaDataLength=" + std::to_string(block.metadata_length()) +
         " bodyLength=" + std::to_string(block.body_length()) + "}";
}

std::string blocks_text(const flatbuffers::Vector<const fbs::Block*>* blocks) {
  return list_of(blocks, [&](auto i) { return block_text(vector_element<fbs::Block>(*blocks, i)); });
}

std::string footer_text(const fbs::Footer& footer) {
  const fbs::Schema& schema = *footer.schema();
  const auto* fields = schema.fields();
  return std::string("{Footer: version=") + version_of(footer.version()) +
         ", schema={Schema: endianness=" + (schema.endianness() == fbs::Endianness::Little ? "little" : "big") +
         ", fields=" + list_of(fields, [&](auto i) { return field_text(*fields->Get(i)); }) +
         ", custom_metadata=" + metadata_of(schema.custom_metadata()) +
         "}, dictionaries=" + blocks_text(footer.dictionaries()) +
         ", recordBatches=" + blocks_text(footer.record_batches()) + "}";
}

std::string batch_text(const fbs::RecordBatch& batch) {
  std::string out = "{RecordBatch: length=" + std::to_string(batch.length());
  out += ", nodes=" + list_of(batch.nodes(), [&](auto i) {
           const auto node = vector_element<fbs::FieldNode>(*batch.nodes(), i);
           return "{FieldNode: length=" + std::to_string(node.length()) +
                  ", null_count=" + std::to_string(node.null_count()) + "}";
         });
  out += ", buffers=" + list_of(batch.buffers(), [&](auto i) {
           const auto buffer = vector_element<fbs::Buffer>(*batch.buffers(), i);
           return "{Buffer: offset=" + std::to_string(buffer.offset()) + ", length=" + std::to_string(buffer.length()) +
                  "}";
         });
  if (const auto* compression = batch.compression()) {
    out += std::string(", compression={BodyCompression: codec=") +
           (compression->codec() == fbs::CompressionType::Zstd ? "ZSTD" : "LZ4_FRAME") + "}";
  }
  return out + "}";
}

std::string message_text(const fbs::Message& message) {
  std::string body = "{none}";
  if (const auto* batch = message.header_as_RecordBatch()) {
    body = batch_text(*batch);
  } else if (const auto* dictionary = message.header_as_DictionaryBatch()) {
    body = "{DictionaryBatch: id=" + std::to_string(dictionary->id()) +
           ", data=" + (dictionary->data() == nullptr ? "{none}" : batch_text(*dictionary->data())) +
           ", isDelta=" + (dictionary->is_delta() ? "true" : "false") + "}";
  }
  return std::string("{Message: version=") + version_of(message.version()) + ", body=" + body +
         ", bodyLength=" + std::to_string(message.body_length()) +
         (message.custom_metadata() == nullptr ? std::string()
                                               : ", custom_metadata=" + metadata_of(message.custom_metadata())) +
         "}";
}

Status add_messages(const FileTail& tail, const flatbuffers::Vector<const fbs::Block*>* blocks, const char* title,
                    std::string& out) {
  for (int64_t i = 0; i < vector_size(blocks); ++i) {
    const auto block = vector_element<fbs::Block>(*blocks, static_cast<flatbuffers::uoffset_t>(i));
    out += "[" + std::string(title) + " " + std::to_string(i) + "]\n" + block_text(block) + "\n";
    if (!tail.is_inside(block)) return tail.bytes.corrupt(tail.footer_offset, "a block lies outside of the file");
    STROM_ASSIGN(const Message message,
                 load_message(tail.bytes, block.offset(), block.offset() + block.metadata_length(), title));
    out += message_text(message.root()) + "\n";
  }
  return Status::ok();
}

}  // namespace

Result<std::string> describe_file(const std::string& path) {
  STROM_ASSIGN(const FileTail tail, FileTail::open(path));
  const fbs::Footer& footer = tail.footer.root();
  std::string out = "[Footer]\n" + footer_text(footer) + "\n";
  STROM_TRY(add_messages(tail, footer.dictionaries(), "Dictionary Batch", out));
  STROM_TRY(add_messages(tail, footer.record_batches(), "Record Batch", out));
  STROM_TRY(tail.mapping->check_unchanged());
  return out;
}

}  // namespace strom::format::arrow
