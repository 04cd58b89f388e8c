// See dictionary_builder.hpp.
#include "columnar/dictionary_builder.hpp"

#include <algorithm>
#include <cstring>

#include "columnar/nested_view.hpp"
#include "columnar/text.hpp"

namespace strom::columnar {

namespace {

int64_t index_count(Layout index) {
  const auto bits = static_cast<int>(8 * value_width(index, 0));
  const bool is_signed = index == integer_layout(bits, true);
  constexpr int kMostBits = 62;
  return int64_t{1} << std::min(bits - (is_signed ? 1 : 0), kMostBits);
}

Field value_field(Field field) {
  field.dictionary = false;
  return field;
}

}  // namespace

bool value_bytes(const ColumnView& column, int64_t row, char* boolean, std::string_view* bytes) {
  if (column.layout == Layout::kBool) {
    *boolean = static_cast<char>((static_cast<const uint8_t*>(column.values)[row >> 3] >> (row & 7)) & 1);
    *bytes = {boolean, 1};
    return true;
  }
  const char* text = nullptr;
  int64_t size = 0;
  if (!refers_to_texts(column.layout)) {
    size = value_width(column.layout, column.byte_width);
    text = static_cast<const char*>(column.values) + row * size;
  } else if (!text_at(column, row, &text, &size)) {
    return false;
  }
  *bytes = {text, static_cast<size_t>(size)};
  return true;
}

DictionaryBuilder::DictionaryBuilder(const Field& field)
    : id_(field.dictionary_id), most_(index_count(field.index)), values_(value_field(field)) {}

bool DictionaryBuilder::can_hold(const Field& field) {
  return field.unsupported.empty() && !is_nested(field.layout) && field.layout != Layout::kNull;
}

bool DictionaryBuilder::push(std::string_view value) {
  const Field& field = values_.field();
  if (field.layout == Layout::kBool) {
    values_.append_bool(value[0] != 0);
  } else if (has_fixed_width(field.layout, field.byte_width)) {
    std::memcpy(values_.append_fixed(), value.data(), value.size());
  } else if (!values_.append_bytes(value.data(), static_cast<int64_t>(value.size()))) {
    return false;
  }
  return true;
}

void DictionaryBuilder::add_null() { values_.append_null(); }

bool DictionaryBuilder::add(std::string_view value) {
  if (!push(value)) return false;
  index_.try_emplace(std::string(value), size() - 1);
  return true;
}

int64_t DictionaryBuilder::find_or_add(std::string_view value) {
  const auto [found, is_new] = index_.try_emplace(std::string(value), size());
  if (!is_new || (size() < most_ && push(value))) return found->second;
  index_.erase(found);
  return -1;
}

int64_t DictionaryBuilder::find_or_add(const ColumnView& column, int64_t row) {
  constexpr int64_t kNull = -2, kOutside = -3, kUnknown = -4;
  const uint64_t index = dictionary_index(column, row);
  if (index >= static_cast<uint64_t>(column.dictionary_size)) return kOutside;
  const void* where = column.dictionary != nullptr ? static_cast<const void*>(column.dictionary)
                                                   : static_cast<const void*>(column.children);
  Known* known = nullptr;
  for (Known& one : known_)
    if (one.dictionary == where && one.size == column.dictionary_size) known = &one;
  if (known == nullptr) {
    known = &known_.emplace_back();
    *known = {where, column.dictionary_size,
              std::vector<int64_t>(static_cast<size_t>(column.dictionary_size), kUnknown)};
  }
  int64_t& mapped = known->indexes[index];
  if (mapped != kUnknown) return mapped;
  if (column.dictionary != nullptr) {
    const registry::StrView& text = column.dictionary[index];
    return mapped = find_or_add(std::string_view(text.ptr, static_cast<size_t>(text.len)));
  }
  int part = -1;
  int64_t part_row = 0;
  if (!value_row(column, {}, row, &part, &part_row)) return kOutside;
  const ColumnView& values = column.children[part];
  if (!is_valid(values, part_row)) return mapped = kNull;
  char boolean;
  std::string_view bytes;
  if (!value_bytes(values, part_row, &boolean, &bytes)) return kOutside;
  return mapped = find_or_add(bytes);
}

void attach_dictionaries(ColumnBuilder& column, DictionaryBuilders& dictionaries) {
  const Field& field = column.field();
  if (field.dictionary) {
    if (!DictionaryBuilder::can_hold(field)) return;
    auto& known = dictionaries[field.dictionary_id];
    if (known == nullptr) known = std::make_shared<DictionaryBuilder>(field);
    column.set_dictionary(known);
    return;
  }
  for (size_t i = 0; i < column.children().size(); ++i) attach_dictionaries(column.child(i), dictionaries);
}

}  // namespace strom::columnar
