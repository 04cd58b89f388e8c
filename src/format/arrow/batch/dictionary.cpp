// See dictionary.hpp.
#include "format/arrow/batch/dictionary.hpp"

#include <algorithm>
#include <utility>

#include "columnar/layout.hpp"
#include "columnar/text.hpp"
#include "format/arrow/metadata/message.hpp"

namespace strom::format::arrow {

namespace {

/// True when the types are the same, whatever the columns' names.
bool same_values(columnar::Field a, const columnar::Field& b) {
  a.name = b.name;
  return same_type(a, b);
}

}  // namespace

struct Dictionaries::Values {
  int first_batch = 0;
  std::vector<registry::StrView> texts;
  std::vector<char> values;
  std::vector<uint8_t> nulls;  // empty: none so far
  struct Size {
    int before_batch;
    int64_t size;
  };
  std::vector<Size> sizes;  // ascending: a record batch uses what precedes it
  std::vector<columnar::ColumnView> parts;
  std::vector<std::pair<std::shared_ptr<const void>, std::unique_ptr<const BatchLayout>>> memory;  // of the parts
  int64_t size = 0;

  Status append(const FileBytes& file, const DictionaryEncoding& encoding, LoadedColumn column,
                std::unique_ptr<const BatchLayout> layout, int before_batch);
};

Status Dictionaries::Values::append(const FileBytes& file, const DictionaryEncoding& encoding, LoadedColumn column,
                                    std::unique_ptr<const BatchLayout> layout, int before_batch) {
  const columnar::Field& field = encoding.values.schema.fields.front();
  const bool is_text = columnar::is_text(field.layout) || columnar::is_binary(field.layout);
  const bool is_fixed = columnar::has_fixed_width(field.layout, field.byte_width);
  for (int64_t row = 0; (is_text || is_fixed) && row < column.length; ++row) {
    const bool valid = columnar::is_valid(column, row);
    if (!valid && nulls.empty()) nulls.assign(static_cast<size_t>(size), 0);
    if (!valid || !nulls.empty()) nulls.push_back(valid ? 0 : 1);
    ++size;
    if (!is_text) continue;
    registry::StrView text{nullptr, 0};
    if (valid && !columnar::text_at(column, row, &text.ptr, &text.len))
      return file.corrupt(layout->location.offset,
                          "a text of the dictionary of column \"" + field.name + "\" lies outside of its buffer");
    texts.push_back(text);
  }
  if (is_fixed) {
    const auto width = columnar::value_width(field.layout, field.byte_width);
    const auto* bytes = static_cast<const char*>(column.values);
    values.insert(values.end(), bytes, bytes + column.length * width);
  }
  if (!is_text && !is_fixed) size += column.length;
  sizes.push_back({before_batch, size});
  parts.push_back(column);
  memory.emplace_back(std::move(column.memory), std::move(layout));
  return Status::ok();
}

Status Dictionaries::sort_messages(const FileBytes& file) const {
  if (sorted_) return Status::ok();
  parts_.clear();
  for (size_t i = 0; i < messages_.size(); ++i) {
    const BatchLocation& place = messages_[i].location;
    STROM_ASSIGN(const auto message, load_message(file, place.offset, place.offset + place.meta_size, "a dictionary"));
    const fbs::DictionaryBatch* batch = message.root().header_as_DictionaryBatch();
    if (batch == nullptr) return file.corrupt(place.offset, "a message that should be a dictionary is of another kind");
    parts_[batch->id()].push_back({i, batch->is_delta()});
  }
  sorted_ = true;
  return Status::ok();
}

Result<Dictionaries::Versions> Dictionaries::load(const FileBytes& file, const DictionaryEncoding& encoding) const {
  Versions versions;
  for (const Part& part : parts_[encoding.id]) {
    const Message& message = messages_[part.message];
    STROM_ASSIGN(auto layout, decode_dictionary(file, encoding.values, message.location));
    STROM_ASSIGN(auto column, load_column(file, encoding.values, *layout, 0, nullptr, *this, message.before_batch));
    if (!part.is_delta || versions.empty()) {
      versions.push_back(std::make_shared<Values>());
      versions.back()->first_batch = message.before_batch;
    }
    STROM_TRY(versions.back()->append(file, encoding, std::move(column), std::move(layout), message.before_batch));
  }
  return versions;
}

Result<const Dictionaries::Versions*> Dictionaries::versions_of(const FileBytes& file,
                                                                const DictionaryEncoding& encoding) const {
  STROM_TRY(sort_messages(file));
  const columnar::Field& field = encoding.values.schema.fields.front();
  const auto [begin, end] = loaded_.equal_range(encoding.id);
  for (auto known = begin; known != end; ++known)
    if (same_values(known->second.encoding->values.schema.fields.front(), field)) return &known->second.versions;
  STROM_ASSIGN(auto versions, load(file, encoding));
  return &loaded_.emplace(encoding.id, Loaded{&encoding, std::move(versions)})->second.versions;
}

Result<DictionaryView> Dictionaries::find(const FileBytes& file, const DictionaryEncoding& encoding, int batch) const {
  std::lock_guard lock(mutex_);
  STROM_ASSIGN(const Versions* known, versions_of(file, encoding));
  const Versions& versions = *known;
  const auto behind =
      std::find_if(versions.begin(), versions.end(), [=](const auto& values) { return values->first_batch > batch; });
  if (behind == versions.begin())
    return file.corrupt(0, "column \"" + encoding.values.schema.fields.front().name + "\" has no dictionary");
  const std::shared_ptr<Values>& values = *(behind - 1);
  DictionaryView view;
  for (const Values::Size& size : values->sizes)
    if (size.before_batch <= batch) view.size = size.size;
  const columnar::Field& field = encoding.values.schema.fields.front();
  if (columnar::is_text(field.layout) || columnar::is_binary(field.layout)) {
    view.texts = values->texts.data();
  } else if (columnar::has_fixed_width(field.layout, field.byte_width)) {
    view.values = values->values.data() != nullptr ? values->values.data() : "";
  } else {
    view.parts = values->parts.data();
    view.part_count = static_cast<int32_t>(values->parts.size());
  }
  view.nulls = values->nulls.empty() ? nullptr : values->nulls.data();
  view.memory = values;
  return view;
}

}  // namespace strom::format::arrow
