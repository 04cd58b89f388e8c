// See append_reading.hpp.
#include "format/arrow/batch/append_reading.hpp"

#include <cstring>
#include <new>

#include "columnar/layout.hpp"
#include "format/arrow/batch/decompress.hpp"
#include "format/arrow/metadata/message.hpp"

namespace strom::format::arrow {

namespace {

using columnar::ColumnBuilder;
using columnar::Layout;
using Buffer = BatchColumn::Buffer;
using Column = BatchColumn;

Status append_mapped(ColumnBuilder& to, const Column& from, int64_t first, int64_t count) {
  const auto size = static_cast<int64_t>(from.map->size());
  for (int64_t row = first; row < first + count; ++row) {
    if (from.is_null(row)) {
      to.append_null();
      continue;
    }
    const int32_t index = from.offset(row);
    if (index < 0 || index >= size) return Status(ErrorCode::kCorruptFile, "an index is outside of its dictionary");
    const int32_t mapped = (*from.map)[static_cast<size_t>(index)];
    if (mapped < 0) return Status(ErrorCode::kUnsupported, "a value is not in the dictionary of the output");
    to.append(mapped);
  }
  return Status::ok();
}

Status append_slice(ColumnBuilder& to, const Column& from, int64_t first, int64_t count) {
  if (count == 0) return Status::ok();
  const columnar::Field& field = to.field();
  if (field.dictionary) {
    if (from.map != nullptr) return append_mapped(to, from, first, count);
  } else if (field.layout == Layout::kList) {
    const int32_t begin = from.offset(first), end = from.offset(first + count);
    STROM_TRY(append_slice(to.child(0), from.children[0], begin, end - begin));
  } else if (field.layout == Layout::kStruct) {
    for (size_t i = 0; i < from.children.size(); ++i)
      STROM_TRY(append_slice(to.child(i), from.children[i], first, count));
  }
  const columnar::ColumnBuffers buffers{from.validity.size > 0 ? from.validity.data : nullptr, from.values.data,
                                        from.data.data};
  if (!to.append_rows(buffers, first, count))
    return Status(ErrorCode::kUnsupported, "record batches are too large to be joined");
  return Status::ok();
}

class BatchReader {
 public:
  BatchReader(const FileBytes& file, const fbs::RecordBatch& batch, int64_t body,
              const std::vector<const IndexMap*>& maps, std::vector<std::shared_ptr<const void>>& inflated)
      : file_(file), batch_(batch), body_(body), maps_(maps), inflated_(inflated) {}

  Status run(const std::vector<ColumnBuilder>& like, int64_t& rows, std::vector<Column>& columns) {
    rows = batch_.length();
    if (rows < 0) return corrupt("a record batch has a negative number of rows");
    columns.resize(like.size());
    for (size_t i = 0; i < like.size(); ++i) STROM_TRY(load(like[i], rows, columns[i]));
    return Status::ok();
  }

 private:
  Status corrupt(const char* what) const { return file_.corrupt(body_, what); }

  Status next_buffer(Buffer& out) {
    if (next_buffer_ >= vector_size(batch_.buffers())) return corrupt("a record batch has too few buffers");
    const auto place =
        vector_element<fbs::Buffer>(*batch_.buffers(), static_cast<flatbuffers::uoffset_t>(next_buffer_++));
    const int64_t room = file_.size - body_;
    if (place.offset() < 0 || place.length() < 0 || place.offset() > room || place.length() > room - place.offset())
      return corrupt("a buffer lies outside of its record batch");
    out = {file_.data + body_ + place.offset(), place.length()};
    return batch_.compression() == nullptr || out.size == 0 ? Status::ok() : inflate(out);
  }

  Status inflate(Buffer& buffer) {
    constexpr int64_t kPrefix = 8;
    if (buffer.size < kPrefix) return corrupt("a compressed buffer has no size");
    int64_t size;
    std::memcpy(&size, buffer.data, sizeof(size));
    buffer = {buffer.data + kPrefix, buffer.size - kPrefix};
    if (size == -1) return Status::ok();
    if (size < 0) return corrupt("a compressed buffer has an impossible size");
    const bool zstd = batch_.compression()->codec() == fbs::CompressionType::Zstd;
    auto result = decompress(zstd ? Codec::kZstd : Codec::kLz4Frame, buffer.data, buffer.size, size, size, nullptr);
    if (!result.is_ok()) {
      return result.status().code() == ErrorCode::kCorruptFile ? corrupt(result.status().message().c_str())
                                                               : result.status();
    }
    auto inflated = std::make_shared<Decompressed>(std::move(result).value());
    buffer = {reinterpret_cast<const uint8_t*>(inflated->memory.bytes.get()), inflated->size};
    inflated_.push_back(std::move(inflated));
    return Status::ok();
  }

  Status load(const ColumnBuilder& to, int64_t rows, Column& out) {
    if (next_node_ >= vector_size(batch_.nodes())) return corrupt("a record batch has too few columns");
    const auto node =
        vector_element<fbs::FieldNode>(*batch_.nodes(), static_cast<flatbuffers::uoffset_t>(next_node_++));
    out.length = node.length();
    if (out.length < rows) return corrupt("a column has fewer rows than its record batch");
    if (out.length > INT32_MAX) return Status(ErrorCode::kUnsupported, "a record batch of more than 2^31 rows");
    STROM_TRY(next_buffer(out.validity));
    if (node.null_count() == 0) out.validity = {};
    const int64_t bitmap = (out.length + 7) / 8;
    if (out.validity.size > 0 && out.validity.size < bitmap) return corrupt("a column's bitmap is too short");
    const bool is_index = to.field().dictionary;
    const Layout layout = to.field().layout;
    if (is_index || layout != Layout::kStruct) STROM_TRY(next_buffer(out.values));
    if (is_index && !maps_.empty()) out.map = maps_[next_map_++];
    if (is_index) return check_size(out.values, out.length * static_cast<int64_t>(sizeof(int32_t)));
    switch (layout) {
      case Layout::kBool: return check_size(out.values, bitmap);
      case Layout::kBinary:
      case Layout::kUtf8: STROM_TRY(next_buffer(out.data)); return check_offsets(out, out.data.size);
      case Layout::kList:
      case Layout::kStruct: break;
      default:
        if (!columnar::has_fixed_width(layout, to.field().byte_width))
          return Status(ErrorCode::kUnsupported, "a column of a type that is not written");
        return check_size(out.values, out.length * columnar::stored_width(to.field()));
    }
    for (const ColumnBuilder& child : to.children())
      STROM_TRY(load(child, layout == Layout::kStruct ? out.length : 0, out.children.emplace_back()));
    return layout == Layout::kList ? check_offsets(out, out.children[0].length) : Status::ok();
  }

  Status check_size(const Buffer& buffer, int64_t size) const {
    return buffer.size >= size ? Status::ok() : corrupt("a column's buffer is too short");
  }

  Status check_offsets(const Column& column, int64_t end) const {
    if (column.length == 0) return Status::ok();
    STROM_TRY(check_size(column.values, (column.length + 1) * static_cast<int64_t>(sizeof(int32_t))));
    for (int64_t row = 0; row < column.length; ++row)
      if (column.offset(row) < 0 || column.offset(row) > column.offset(row + 1))
        return corrupt("a column's offsets are not in order");
    return column.offset(column.length) <= end ? Status::ok() : corrupt("a column's offsets lead outside of its data");
  }

  const FileBytes& file_;
  const fbs::RecordBatch& batch_;
  int64_t body_;
  const std::vector<const IndexMap*>& maps_;
  std::vector<std::shared_ptr<const void>>& inflated_;
  int64_t next_node_ = 0, next_buffer_ = 0;
  size_t next_map_ = 0;
};

}  // namespace

Result<BatchColumns> BatchColumns::load(const FileBytes& file, const fbs::RecordBatch& batch, int64_t body,
                                        const std::vector<ColumnBuilder>& like,
                                        const std::vector<const IndexMap*>& maps) {
  try {
    BatchColumns out;
    out.name_ = file.path;
    STROM_TRY(BatchReader(file, batch, body, maps, out.inflated_).run(like, out.rows_, out.columns_));
    return out;
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while reading file \"" + file.path + "\"");
  }
}

Status BatchColumns::append_to(std::vector<ColumnBuilder>& columns, int64_t first, int64_t count) const {
  try {
    for (size_t i = 0; i < columns.size(); ++i) STROM_TRY(append_slice(columns[i], columns_[i], first, count));
    return Status::ok();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while reading file \"" + name_ + "\"");
  }
}

}  // namespace strom::format::arrow
