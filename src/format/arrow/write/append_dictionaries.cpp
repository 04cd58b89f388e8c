// See append_dictionaries.hpp.
#include "format/arrow/write/append_dictionaries.hpp"

#include <limits>
#include <utility>

#include "columnar/text.hpp"
#include "format/arrow/batch/dictionary.hpp"
#include "format/arrow/metadata/message.hpp"

namespace strom::format::arrow {

namespace {

using columnar::DictionaryBuilder;

constexpr const char* kTooLarge = "a dictionary is too large to be added to";

Status add_values(const DictionaryView& view, DictionaryBuilder& to) {
  const columnar::Field& field = to.values().field();
  const auto width = static_cast<size_t>(columnar::value_width(field.layout, field.byte_width));
  for (int64_t i = 0; i < view.size; ++i) {
    if (view.nulls != nullptr && view.nulls[i] != 0) {
      to.add_null();
      continue;
    }
    const auto at = static_cast<size_t>(i);
    const std::string_view bytes = view.texts != nullptr
                                       ? std::string_view(view.texts[i].ptr, static_cast<size_t>(view.texts[i].len))
                                       : std::string_view(view.values + at * width, width);
    if (!to.add(bytes)) return Status(ErrorCode::kUnsupported, kTooLarge);
  }
  return Status::ok();
}

/// For values of other kinds: booleans.
Status add_parts(const DictionaryView& view, DictionaryBuilder& to) {
  for (int32_t i = 0; i < view.part_count; ++i) {
    const columnar::ColumnView& part = view.parts[i];
    for (int64_t row = 0; row < part.length; ++row) {
      char boolean;
      std::string_view bytes;
      if (!columnar::is_valid(part, row))
        to.add_null();
      else if (!columnar::value_bytes(part, row, &boolean, &bytes) || !to.add(bytes))
        return Status(ErrorCode::kUnsupported, kTooLarge);
    }
  }
  return Status::ok();
}

}  // namespace

void AppendDictionaries::find_encodings(const FieldPlace& place) {
  if (place.dictionary != nullptr) encodings_.emplace(place.dictionary->id, place.dictionary);
  for (const FieldPlace& child : place.children) find_encodings(child);
}

Status AppendDictionaries::load(const FileTail& tail, const flatbuffers::Vector<const fbs::Block*>* source,
                                const DecodedSchema& schema) {
  for (const FieldPlace& place : schema.trees) find_encodings(place);
  for (int64_t i = 0; i < vector_size(source); ++i) {
    const auto block = vector_element<fbs::Block>(*source, static_cast<flatbuffers::uoffset_t>(i));
    if (!tail.is_inside(block))
      return tail.bytes.corrupt(tail.footer_offset, "a block of the footer lies outside of the file");
    STROM_ASSIGN(const Message message,
                 load_message(tail.bytes, block.offset(), block.offset() + block.metadata_length(), "a dictionary"));
    const fbs::DictionaryBatch* batch = message.root().header_as_DictionaryBatch();
    if (batch == nullptr)
      return tail.bytes.corrupt(block.offset(), "a message that should be a dictionary is of another kind");
    stored_.push_back({batch->id(), block});
  }
  return Status::ok();
}

Result<std::shared_ptr<DictionaryBuilder>> AppendDictionaries::find(const std::string& path,
                                                                    const columnar::Field& field) {
  Growing& growing = growing_[field.dictionary_id];
  if (growing.builder != nullptr) return growing.builder;
  const auto encoding = encodings_.find(field.dictionary_id);
  if (encoding == encodings_.end() || !DictionaryBuilder::can_hold(field)) return std::shared_ptr<DictionaryBuilder>();
  auto builder = std::make_shared<DictionaryBuilder>(field);
  Dictionaries dictionaries;
  for (const Stored& one : stored_)
    dictionaries.add({one.block.offset(), one.block.metadata_length(), one.block.body_length()}, 0);
  bool exists = false;
  for (const Stored& one : stored_) exists = exists || one.id == field.dictionary_id;
  if (exists) {
    STROM_ASSIGN(const FileTail tail, FileTail::open(path));
    STROM_ASSIGN(const DictionaryView view,
                 dictionaries.find(tail.bytes, *encoding->second, std::numeric_limits<int>::max()));
    STROM_TRY(view.part_count > 0 ? add_parts(view, *builder) : add_values(view, *builder));
  }
  growing.builder = std::move(builder);
  growing.written = exists ? growing.builder->size() : -1;  // -1: even an empty one is written
  return growing.builder;
}

Status AppendDictionaries::write_grown(const Write& write) {
  for (auto& [id, growing] : growing_) {
    if (growing.builder == nullptr || growing.builder->size() == growing.written) continue;
    fbs::Block block;
    STROM_TRY(write(id, growing.builder->values(), &block));
    std::erase_if(stored_, [id = id](const Stored& one) { return one.id == id; });
    stored_.push_back({id, block});
    growing.written = growing.builder->size();
  }
  return Status::ok();
}

std::vector<fbs::Block> AppendDictionaries::blocks() const {
  std::vector<fbs::Block> blocks;
  blocks.reserve(stored_.size());
  for (const Stored& one : stored_) blocks.push_back(one.block);
  return blocks;
}

}  // namespace strom::format::arrow
