// See batch_metadata.hpp.
#include "format/arrow/batch_metadata.hpp"

#include "format/arrow/file_tail.hpp"
#include "format/arrow/message.hpp"

namespace strom::format::arrow {

namespace {

std::string text_of(const flatbuffers::String* text) { return text == nullptr ? std::string() : text->str(); }

Result<columnar::KeyValues> metadata_of(const FileTail& tail, const fbs::Block& block) {
  if (!tail.is_inside(block)) return tail.bytes.corrupt(tail.footer_offset, "a record batch is outside of the file");
  STROM_ASSIGN(const Message message,
               load_message(tail.bytes, block.offset(), block.offset() + block.metadata_length(), "a record batch"));
  columnar::KeyValues items;
  const auto* metadata = message.root().custom_metadata();
  for (int64_t i = 0; i < vector_size(metadata); ++i) {
    const fbs::KeyValue& item = *metadata->Get(static_cast<flatbuffers::uoffset_t>(i));
    items.emplace_back(text_of(item.key()), text_of(item.value()));
  }
  return items;
}

}  // namespace

Result<std::vector<columnar::KeyValues>> batch_metadata(const std::string& path) {
  STROM_ASSIGN(const FileTail tail, FileTail::open(path));
  std::vector<columnar::KeyValues> all;
  const auto* blocks = tail.footer.root().record_batches();
  for (int64_t i = 0; i < vector_size(blocks); ++i) {
    STROM_ASSIGN(all.emplace_back(),
                 metadata_of(tail, vector_element<fbs::Block>(*blocks, static_cast<flatbuffers::uoffset_t>(i))));
  }
  return all;
}

}  // namespace strom::format::arrow
