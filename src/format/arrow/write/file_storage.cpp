// See file_storage.hpp.
#include "format/arrow/write/file_storage.hpp"

#include <utility>

#include "base/mapped_file.hpp"
#include "base/mapped_file.hpp"
#include "format/arrow/write/append_dictionaries.hpp"
#include "format/arrow/metadata/append_mark.hpp"
#include "format/arrow/metadata/file_end.hpp"
#include "format/arrow/metadata/file_tail.hpp"
#include "format/arrow/metadata/message.hpp"
#include "format/arrow/metadata/schema_decode.hpp"

namespace strom::format::arrow {

namespace {

std::string text_of(const flatbuffers::String* text) { return text == nullptr ? std::string() : text->str(); }

void collect_dictionaries(const fbs::Field& field, std::vector<DictionaryStorage>& found) {
  if (const auto* encoding = field.dictionary(); encoding != nullptr) {
    const fbs::Int* index = encoding->index_type();  // absent: Int32
    std::string type =
        index == nullptr ? "Int32" : (index->is_signed() ? "Int" : "UInt") + std::to_string(index->bit_width());
    found.push_back({encoding->id(), std::move(type), encoding->is_ordered()});
  }
  for (int64_t i = 0; i < vector_size(field.children()); ++i)
    collect_dictionaries(*field.children()->Get(static_cast<flatbuffers::uoffset_t>(i)), found);
}

class StorageReader {
 public:
  explicit StorageReader(FileBytes bytes) : bytes_(std::move(bytes)) {}

  Status take_schema(const fbs::Schema& schema) {
    for (int64_t i = 0; i < vector_size(schema.fields()); ++i)
      collect_dictionaries(*schema.fields()->Get(static_cast<flatbuffers::uoffset_t>(i)),
                           out_.dictionaries.emplace_back());
    return Status::ok();
  }

  Status take_file() {
    bytes_.size = size_in_force(bytes_.data, bytes_.size);
    if (bytes_.size < kHeaderBytes + kTrailerBytes) return bytes_.corrupt(0, "the file is too short");
    const int64_t trailer = bytes_.size - kTrailerBytes, size = bytes_.load<int32_t>(trailer);
    if (size <= 0 || size > trailer - kHeaderBytes) return bytes_.corrupt(trailer, "the footer's size is impossible");
    end_ = trailer - size;
    STROM_ASSIGN(const auto footer, load_footer(bytes_, end_, trailer));
    if (footer.root().schema() == nullptr) return bytes_.corrupt(end_, "the footer has no schema");
    STROM_TRY(take_schema(*footer.root().schema()));
    STROM_TRY(take_blocks(footer.root().dictionaries()));
    return take_blocks(footer.root().record_batches());
  }

  /// Reads consecutive messages.
  Status take_stream() {
    out_.is_stream = true;
    constexpr int64_t kWord = 4;
    for (int64_t at = 0; bytes_.size - at >= kWord && !is_end(at);) {
      STROM_ASSIGN(const Message message, load_message(bytes_, at, bytes_.size, "a message"));
      if (const fbs::Schema* schema = message.root().header_as_Schema(); schema != nullptr) {
        STROM_TRY(take_schema(*schema));
      } else {
        STROM_TRY(take_message(message, at));
      }
      const int64_t body = message.metadata_offset + message.metadata.size(), size = message.root().body_length();
      if (size < 0 || size > bytes_.size - body) return bytes_.corrupt(at, "a message is cut off");
      at = body + size;
    }
    return Status::ok();
  }

  FileStorage take() && { return std::move(out_); }

 private:
  bool is_end(int64_t at) const {
    const auto word = bytes_.load<uint32_t>(at);
    return word == 0 || (word == kContinuation && bytes_.size - at >= 8 && bytes_.load<uint32_t>(at + 4) == 0);
  }

  Status take_blocks(const flatbuffers::Vector<const fbs::Block*>* blocks) {
    for (int64_t i = 0; i < vector_size(blocks); ++i) {
      const auto block = vector_element<fbs::Block>(*blocks, static_cast<flatbuffers::uoffset_t>(i));
      if (block.offset() < kHeaderBytes || block.offset() >= end_ || block.metadata_length() <= 0 ||
          block.metadata_length() > end_ - block.offset())
        return bytes_.corrupt(end_, "a message is outside of the file");
      STROM_ASSIGN(const Message message,
                   load_message(bytes_, block.offset(), block.offset() + block.metadata_length(), "a message"));
      STROM_TRY(take_message(message, block.offset()));
    }
    return Status::ok();
  }

  Status take_message(const Message& message, int64_t at) {
    if (const auto* dictionary = message.root().header_as_DictionaryBatch(); dictionary != nullptr) {
      if (dictionary->data() == nullptr) return bytes_.corrupt(at, "a dictionary is empty");
      add_values(dictionary->id(), dictionary->data()->length(), dictionary->is_delta());
      return Status::ok();
    }
    const auto* batch = message.root().header_as_RecordBatch();
    if (batch == nullptr) return bytes_.corrupt(at, "a message is neither a record batch nor a dictionary");
    BatchStorage& storage = out_.batches.emplace_back();
    if (const auto* compression = batch->compression(); compression != nullptr)
      storage.codec = compression->codec() == fbs::CompressionType::Zstd ? Codec::kZstd : Codec::kLz4;
    const auto* metadata = message.root().custom_metadata();
    for (int64_t i = 0; i < vector_size(metadata); ++i) {
      const fbs::KeyValue& item = *metadata->Get(static_cast<flatbuffers::uoffset_t>(i));
      storage.metadata.emplace_back(text_of(item.key()), text_of(item.value()));
    }
    return Status::ok();
  }

  void add_values(int64_t id, int64_t count, bool is_delta) {
    for (auto& [known, values] : out_.dictionary_values) {
      if (known != id) continue;
      values = is_delta ? values + count : count;
      return;
    }
    out_.dictionary_values.emplace_back(id, count);
  }

  FileBytes bytes_;
  int64_t end_ = 0;  // of a file's messages
  FileStorage out_;
};

}  // namespace

Result<FileStorage> read_storage(const std::string& name, std::span<const uint8_t> bytes) {
  const FileBytes file{name, bytes.data(), static_cast<int64_t>(bytes.size())};
  StorageReader reader(file);
  const bool is_file = file.size >= kMagicBytes && std::memcmp(file.data, kMagic, kMagicBytes) == 0;
  STROM_TRY(is_file ? reader.take_file() : reader.take_stream());
  return std::move(reader).take();
}

Result<FileStorage> read_storage(const std::string& path) {
  STROM_ASSIGN(const auto mapping, base::MappedFile::open(path));
  STROM_ASSIGN(auto storage, read_storage(path, {mapping->data(), static_cast<size_t>(mapping->size())}));
  STROM_TRY(mapping->check_unchanged());
  return storage;
}

namespace {

Status find_all(AppendDictionaries& dictionaries, const std::string& path, const columnar::Field& field,
                columnar::DictionaryBuilders& all) {
  if (field.dictionary) {
    STROM_ASSIGN(auto dictionary, dictionaries.find(path, field));
    if (dictionary != nullptr) all[field.dictionary_id] = std::move(dictionary);
    return Status::ok();
  }
  for (const columnar::Field& child : field.children) STROM_TRY(find_all(dictionaries, path, child, all));
  return Status::ok();
}

}  // namespace

Result<columnar::DictionaryBuilders> load_dictionaries(const std::string& path, const FileStorage& storage) {
  columnar::DictionaryBuilders all;
  if (storage.is_stream) return all;
  STROM_ASSIGN(const FileTail tail, FileTail::open(path));
  const fbs::Footer& footer = tail.footer.root();
  STROM_ASSIGN(const DecodedSchema decoded,
               decode_schema(tail.bytes, tail.footer_offset, tail.footer.size(), *footer.schema()));
  AppendDictionaries dictionaries;
  STROM_TRY(dictionaries.load(tail, footer.dictionaries(), decoded));
  for (const columnar::Field& field : decoded.schema.fields) STROM_TRY(find_all(dictionaries, path, field, all));
  return all;
}

const char* codec_text(Codec codec) {
  switch (codec) {
    case Codec::kNone: return "none";
    case Codec::kLz4: return "lz4";
    case Codec::kZstd: return "zstd";
  }
  return "unknown";
}

}  // namespace strom::format::arrow
