// See existing_file.hpp.
#include "format/arrow/write/existing_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/os_error.hpp"
#include "format/arrow/batch/batch_body.hpp"
#include "format/arrow/write/existing_content.hpp"
#include "format/arrow/metadata/message.hpp"
#include "format/arrow/metadata/schema_decode.hpp"

namespace strom::format::arrow {

Status ExistingFile::Content::add_blocks(const flatbuffers::Vector<const fbs::Block*>* source, fbs::MessageHeader kind,
                                         std::vector<fbs::Block>& blocks) {
  for (int64_t i = 0; i < vector_size(source); ++i) {
    const auto block = vector_element<fbs::Block>(*source, static_cast<flatbuffers::uoffset_t>(i));
    if (!tail.is_inside(block)) {
      return tail.bytes.corrupt(tail.footer_offset, "a block of the footer lies outside of the file");
    }
    const int64_t body = block.offset() + block.metadata_length();
    STROM_ASSIGN(const Message message, load_message(tail.bytes, block.offset(), body, "a message"));
    if (message.root().header_type() != kind) {
      return tail.bytes.corrupt(block.offset(), "a message is of another kind than the footer says");
    }
    blocks.push_back(block);
    end = std::max(end, body + block.body_length());
  }
  return Status::ok();
}

Result<std::shared_ptr<const ExistingFile>> ExistingFile::open(const std::string& path) {
  auto content = std::make_shared<Content>();
  STROM_ASSIGN(content->tail, FileTail::open(path));
  const FileTail& tail = content->tail;
  const fbs::Footer& footer = tail.footer.root();
  if (footer.version() != fbs::MetadataVersion::V5 || footer.schema()->endianness() != fbs::Endianness::Little) {
    return Status(ErrorCode::kUnsupported, "file \"" + path + "\" cannot be appended to")
        .with_detail("It is big-endian or has metadata of another version than 5.");
  }
  auto existing = std::make_shared<ExistingFile>();
  STROM_ASSIGN(DecodedSchema decoded,
               decode_schema(tail.bytes, tail.footer_offset, tail.footer.size(), *footer.schema()));
  existing->schema = std::move(decoded.schema);
  STROM_ASSIGN(const Message schema, load_message(tail.bytes, kHeaderBytes, tail.footer_offset, "the schema message"));
  content->end = schema.metadata_offset + schema.metadata.size();
  STROM_TRY(content->add_blocks(footer.dictionaries(), fbs::MessageHeader::DictionaryBatch, content->dictionaries));
  STROM_TRY(content->add_blocks(footer.record_batches(), fbs::MessageHeader::RecordBatch, content->batches));
  existing->batches = static_cast<int64_t>(content->batches.size());
  existing->content = std::move(content);
  return std::shared_ptr<const ExistingFile>(std::move(existing));
}

Status ExistingFile::Content::add_values(const fbs::RecordBatch& batch, int64_t body, int64_t body_size,
                                         std::vector<std::string>& values) const {
  const FileBytes& bytes = tail.bytes;
  if (batch.compression() != nullptr || vector_size(batch.nodes()) != 1 || vector_size(batch.buffers()) != 3) {
    return Status(ErrorCode::kUnsupported,
                  "file \"" + bytes.path + "\" has a dictionary that is compressed or not of text");
  }
  const auto node = vector_element<fbs::FieldNode>(*batch.nodes(), 0);
  const auto offsets = vector_element<fbs::Buffer>(*batch.buffers(), 1);
  const auto data = vector_element<fbs::Buffer>(*batch.buffers(), 2);
  const auto inside = [&](const fbs::Buffer& buffer) {
    return buffer.offset() >= 0 && buffer.length() >= 0 && buffer.offset() <= body_size &&
           buffer.length() <= body_size - buffer.offset();
  };
  const int64_t count = node.length();
  if (node.null_count() != 0 || count < 0 || !inside(offsets) || !inside(data) ||
      (count > 0 && count > offsets.length() / 4 - 1)) {
    return bytes.corrupt(body, "a dictionary has nulls or buffers that do not fit");
  }
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = bytes.load<int32_t>(body + offsets.offset() + i * 4);
    const int64_t end = bytes.load<int32_t>(body + offsets.offset() + i * 4 + 4);
    if (begin < 0 || end < begin || end > data.length())
      return bytes.corrupt(body, "a dictionary has text offsets outside of its text");
    values.emplace_back(reinterpret_cast<const char*>(bytes.data) + body + data.offset() + begin,
                        static_cast<size_t>(end - begin));
  }
  return Status::ok();
}

Result<std::vector<std::string>> ExistingFile::dictionary(int64_t id) const {
  std::vector<std::string> values;
  for (const fbs::Block& block : content->dictionaries) {
    const int64_t body = block.offset() + block.metadata_length();
    STROM_ASSIGN(const Message message, load_message(content->tail.bytes, block.offset(), body, "a dictionary batch"));
    const auto* header = message.root().header_as_DictionaryBatch();
    if (header == nullptr || header->data() == nullptr)
      return content->tail.bytes.corrupt(block.offset(), "a dictionary batch is empty");
    if (header->id() != id) continue;
    if (!header->is_delta()) values.clear();
    STROM_TRY(content->add_values(*header->data(), body, block.body_length(), values));
  }
  return values;
}

Result<int64_t> ExistingFile::count_rows() const {
  int64_t rows = 0;
  for (const fbs::Block& block : content->batches) {
    const int64_t body = block.offset() + block.metadata_length();
    STROM_ASSIGN(const Message message, load_message(content->tail.bytes, block.offset(), body, "a record batch"));
    const auto* header = message.root().header_as_RecordBatch();
    if (header == nullptr || header->length() < 0)
      return content->tail.bytes.corrupt(block.offset(), "a record batch is empty");
    rows += header->length();
  }
  return rows;
}

Status ExistingFile::copy_messages(StagedFile& file) const {
  const std::string& path = content->tail.bytes.path;
  const int source = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return base::os_error(errno, "could not open file \"" + path + "\"");
  Status copied = file.append_file(source, 0, content->end);
  close(source);
  STROM_TRY(copied);
  STROM_TRY(file.append({{const_cast<char*>(kPadding), static_cast<size_t>(-content->end & 7)}}));
  return content->tail.mapping->check_unchanged();
}

}  // namespace strom::format::arrow
