// See batch_encode.hpp.
#include "format/arrow/batch/batch_encode.hpp"

#include "columnar/layout.hpp"

namespace strom::format::arrow {

namespace {

using columnar::ColumnView;
using columnar::Form;
using columnar::Layout;

/// Adds the offsets, one more than rows, even if there are no rows.
Status add_offsets(const ColumnView& column, int64_t width, BatchBody& body, Compressor* compressor) {
  if (column.length == 0) return body.add_buffer(kPadding, width, compressor);
  return body.add_buffer(column.values, (column.length + 1) * width, compressor);
}

Status add_own_buffers(const ColumnView& column, Form form, BatchBody& body, Compressor* compressor) {
  const auto add = [&](const void* bytes, int64_t size) { return body.add_buffer(bytes, size, compressor); };
  const int64_t width = columnar::value_width(column.layout, column.byte_width);
  switch (form) {
    case Form::kBits: return add(column.values, (column.length + 7) / 8);
    case Form::kFixed: return add(column.values, column.length * width);
    case Form::kOffsets:
      STROM_TRY(add_offsets(column, width, body, compressor));
      return add(column.data, column.length == 0 ? 0 : column.data_size);
    case Form::kViews:
      STROM_TRY(add(column.values, column.length * width));
      for (int32_t i = 0; i < column.variadic_count; ++i) STROM_TRY(add(column.variadic[i], column.variadic_sizes[i]));
      body.add_variadic_count(column.variadic_count);
      return Status::ok();
    case Form::kListOffsets: return add_offsets(column, width, body, compressor);
    case Form::kListViews:
      STROM_TRY(add(column.values, column.length * width));
      return add(column.data, column.length * width);
    case Form::kUnion:
      STROM_TRY(add(column.values, column.length * width));
      if (column.layout == Layout::kSparseUnion) return Status::ok();
      return add(column.data, column.length * static_cast<int64_t>(sizeof(int32_t)));
    case Form::kNone:
    case Form::kFixedList:
    case Form::kStruct:
    case Form::kRunEnds: break;
  }
  return Status::ok();
}

}  // namespace

Status add_column(const ColumnView& column, BatchBody& body, Compressor* compressor) {
  const Form form = columnar::form_of(column.layout);
  body.add_node(column.length, column.null_count);
  if (form != Form::kNone && form != Form::kUnion && form != Form::kRunEnds)
    STROM_TRY(body.add_buffer(column.validity, column.null_count > 0 ? (column.length + 7) / 8 : 0, compressor));
  STROM_TRY(add_own_buffers(column, form, body, compressor));
  if (!columnar::is_nested(column.layout)) return Status::ok();  // a dictionary's parts are not children
  for (int32_t i = 0; i < column.child_count; ++i) STROM_TRY(add_column(column.children[i], body, compressor));
  return Status::ok();
}

}  // namespace strom::format::arrow
