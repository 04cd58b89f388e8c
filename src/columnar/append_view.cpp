// See append_view.hpp.
#include "columnar/append_view.hpp"

#include <cstring>

#include "columnar/dictionary_builder.hpp"
#include "columnar/load.hpp"
#include "columnar/nested_view.hpp"
#include "columnar/text.hpp"

namespace strom::columnar {

namespace {

Status outside(const ColumnBuilder& to) {
  return Status(ErrorCode::kCorruptFile, "column \"" + to.field().name + "\" has a value outside of its buffers");
}

Status too_much(const ColumnBuilder& to) {
  return Status(ErrorCode::kUnsupported,
                "column \"" + to.field().name + "\" has too many bytes or rows for one record batch");
}

Status append_encoded(const ColumnView& from, int64_t row, ColumnBuilder& to) {
  constexpr int64_t kFull = -1, kNull = -2;
  DictionaryBuilder* dictionary = to.dictionary();
  if (dictionary == nullptr)
    return Status(ErrorCode::kUnsupported, "column \"" + to.field().name + "\" has a dictionary of " +
                                               layout_name(to.field().layout) + ", which cannot be written");
  int64_t index = 0;
  if (from.layout == Layout::kDictionary) {
    index = dictionary->find_or_add(from, row);
  } else {  // the values themselves
    char boolean;
    std::string_view bytes;
    if (!value_bytes(from, row, &boolean, &bytes)) return outside(to);
    index = dictionary->find_or_add(bytes);
  }
  if (index == kNull) {
    to.append_null();
    return Status::ok();
  }
  if (index < kFull) return outside(to);
  return index != kFull && append_index(index, to) ? Status::ok() : too_much(to);
}

/// Checks the offsets of all these texts at once. False when a text leads outside of the column.
template <class Offset>
bool has_sound_offsets(const ColumnView& from, int64_t first, int64_t count, int64_t end) {
  int64_t last = load<Offset>(from.values, first);
  bool sound = last >= 0;
  for (int64_t row = first + 1; row <= first + count; ++row) {
    const int64_t offset = load<Offset>(from.values, row);
    sound = sound & (offset >= last);
    last = offset;
  }
  return sound && last <= end;
}

Status append_plain(const ColumnView& from, int64_t first, int64_t count, ColumnBuilder& to) {
  if (count == 0) return Status::ok();
  if (has_offsets(from.layout)) {
    const bool is_large = value_width(from.layout, 0) == sizeof(int64_t);
    if (!(is_large ? has_sound_offsets<int64_t> : has_sound_offsets<int32_t>)(from, first, count, from.data_size))
      return outside(to);
  }
  const ColumnBuffers buffers{from.validity, static_cast<const uint8_t*>(from.values),
                              reinterpret_cast<const uint8_t*>(from.data)};
  return to.append_rows(buffers, first, count) ? Status::ok() : too_much(to);
}

Status append_text_view(const ColumnView& from, int64_t row, ColumnBuilder& to) {
  const char* text = nullptr;
  int64_t size = 0;
  if (!text_at(from, row, &text, &size)) return outside(to);
  return to.append_bytes(text, size) ? Status::ok() : too_much(to);
}

Status append_elements(const ColumnView& from, int64_t row, ColumnBuilder& to, Indexes indexes) {
  ChildRows rows;
  if (!list_rows(from, row, &rows)) return outside(to);
  STROM_TRY(append_view(*rows.child, rows.begin, rows.count, to.child(0), indexes));
  return to.append_list() ? Status::ok() : too_much(to);
}

Status append_member(const ColumnView& from, int64_t row, ColumnBuilder& to, Indexes indexes) {
  int child = -1;
  int64_t child_row = 0;
  if (!value_row(from, to.field().type_ids, row, &child, &child_row)) return outside(to);
  const auto at = static_cast<size_t>(child);
  STROM_TRY(append_view(from.children[child], child_row, 1, to.child(at), indexes));
  if (from.layout == Layout::kRunEndEncoded) return to.append_run() ? Status::ok() : too_much(to);
  for (size_t i = 0; from.layout == Layout::kSparseUnion && i < to.children().size(); ++i)
    if (i != at) STROM_TRY(append_view(from.children[i], row, 1, to.child(i), indexes));
  to.append_union(at);
  return Status::ok();
}

Status append_structs(const ColumnView& from, int64_t first, int64_t count, ColumnBuilder& to, Indexes indexes) {
  for (size_t i = 0; i < to.children().size(); ++i)
    STROM_TRY(append_view(from.children[i], first, count, to.child(i), indexes));
  return to.append_rows({from.validity, nullptr, nullptr}, first, count) ? Status::ok() : too_much(to);
}

/// Row by row.
Status append_one(const ColumnView& from, int64_t row, ColumnBuilder& to, Indexes indexes) {
  if (!is_valid(from, row)) {
    to.append_null();
    return Status::ok();
  }
  if (to.field().dictionary) return append_encoded(from, row, to);
  switch (form_of(from.layout)) {
    case Form::kNone: to.append_null(); return Status::ok();
    case Form::kViews: return append_text_view(from, row, to);
    case Form::kListOffsets:
    case Form::kListViews:
    case Form::kFixedList: return append_elements(from, row, to, indexes);
    default: return append_member(from, row, to, indexes);
  }
}

}  // namespace

bool append_index(int64_t index, ColumnBuilder& to) {
  const Layout layout = to.field().index;
  const auto width = static_cast<size_t>(value_width(layout, 0));
  const bool is_signed = layout == integer_layout(static_cast<int>(8 * width), true);
  const auto bits = static_cast<int>(8 * width) - (is_signed ? 1 : 0);
  if (bits < 63 && index >> bits != 0) return false;
  std::memcpy(to.append_fixed(), &index, width);  // little-endian: the low bytes
  return true;
}

Status append_view(const ColumnView& from, int64_t first, int64_t count, ColumnBuilder& to, Indexes indexes) {
  if (first < 0 || count < 0 || first > from.length || count > from.length - first) return outside(to);
  if (to.field().dictionary && indexes == Indexes::kAsTheyAre) return append_plain(from, first, count, to);
  if (!to.field().dictionary) {
    switch (form_of(from.layout)) {
      case Form::kBits:
      case Form::kFixed:
      case Form::kOffsets: return append_plain(from, first, count, to);
      case Form::kStruct: return append_structs(from, first, count, to, indexes);
      default: break;
    }
  }
  for (int64_t row = first; row < first + count; ++row) STROM_TRY(append_one(from, row, to, indexes));
  return Status::ok();
}

}  // namespace strom::columnar
