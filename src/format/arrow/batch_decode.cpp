// See batch_decode.hpp.
#include "format/arrow/batch_decode.hpp"

#include <utility>

#include "columnar/layout.hpp"
#include "format/arrow/message.hpp"

namespace strom::format::arrow {

namespace {

using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

constexpr int64_t kBufferAlignment = 8;

class BatchDecoder {
 public:
  BatchDecoder(const FileBytes& file, const DecodedSchema& schema, const BatchLocation& location)
      : file_(file), schema_(schema), batch_(std::make_unique<BatchLayout>()) {
    batch_->location = location;
  }

  Result<std::unique_ptr<const BatchLayout>> decode() {
    const BatchLocation& location = batch_->location;
    const int64_t body_offset = location.offset + location.meta_size;
    STROM_ASSIGN(const Message message, load_message(file_, location.offset, body_offset, "a record batch"));
    offset_ = message.metadata_offset;
    const fbs::RecordBatch* source = message.root().header_as_RecordBatch();
    if (source == nullptr) return corrupt("a message that should be a record batch is of another kind");
    if (message.root().body_length() != location.body_size) {
      return corrupt("a record batch and the footer differ in the size of the batch's body");
    }
    if (source->compression() != nullptr) return compressed(source->compression()->codec());
    batch_->is_v4 = message.root().version() == fbs::MetadataVersion::V4;
    batch_->rows = source->length();
    if (batch_->rows < 0) return corrupt("a record batch has a negative number of rows");
    STROM_TRY(decode_nodes(*source));
    STROM_TRY(decode_view_groups(*source));
    STROM_TRY(decode_buffers(*source, body_offset));
    return std::unique_ptr<const BatchLayout>(std::move(batch_));
  }

 private:
  Status corrupt(const std::string& what) const { return file_.corrupt(offset_, what); }

  Status compressed(fbs::CompressionType codec) const {
    const char* name = codec == fbs::CompressionType::Lz4Frame ? "LZ4 "
                       : codec == fbs::CompressionType::Zstd   ? "ZSTD "
                                                               : "";
    return Status(ErrorCode::kUnsupported, "file \"" + file_.path + "\" uses " + name + "compression")
        .with_detail("The record batch at byte offset " + std::to_string(batch_->location.offset) + " is compressed.")
        .with_hint("Write the file without compression.");
  }

  /// The metadata must have as many entries as the schema asks for; at least as many when the schema ends in types
  /// that are not known here.
  bool count_fits(int64_t count, int64_t expected) const {
    return schema_.all_placed() ? count == expected : count >= expected;
  }

  Status bad_count(const char* what, int64_t count, int64_t expected) const {
    return corrupt("a record batch has " + std::to_string(count) + " " + what + " where its schema has " +
                   std::to_string(expected));
  }

  Status decode_nodes(const fbs::RecordBatch& source) {
    const int64_t count = vector_size(source.nodes());
    if (!count_fits(count, schema_.total().nodes)) return bad_count("field nodes", count, schema_.total().nodes);
    batch_->nodes.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const auto node = vector_element<fbs::FieldNode>(*source.nodes(), static_cast<flatbuffers::uoffset_t>(i));
      const NodeSize size{node.length(), node.null_count()};
      if (size.length < 0 || size.null_count < 0 || size.null_count > size.length) {
        return corrupt("field node " + std::to_string(i) + " has " + std::to_string(size.length) + " rows and " +
                       std::to_string(size.null_count) + " nulls");
      }
      batch_->nodes.push_back(size);
    }
    for (int32_t i = 0; i < schema_.placed_fields; ++i) {
      const int64_t length = batch_->nodes[static_cast<size_t>(schema_.places[static_cast<size_t>(i)].nodes)].length;
      if (length != batch_->rows) {
        return corrupt("column " + std::to_string(i) + " has " + std::to_string(length) +
                       " rows in a record batch of " + std::to_string(batch_->rows));
      }
    }
    return Status::ok();
  }

  Status decode_view_groups(const fbs::RecordBatch& source) {
    const int64_t count = vector_size(source.variadic_counts());
    if (!count_fits(count, schema_.total().view_groups)) {
      return bad_count("counts of view buffers", count, schema_.total().view_groups);
    }
    const int64_t limit = vector_size(source.buffers());
    int64_t sum = 0;
    batch_->view_buffers.push_back(0);
    for (int64_t i = 0; i < count; ++i) {
      const auto buffers = vector_element<int64_t>(*source.variadic_counts(), static_cast<flatbuffers::uoffset_t>(i));
      if (buffers < 0 || buffers > limit - sum) return corrupt("a count of view buffers is out of range");
      sum += buffers;
      batch_->view_buffers.push_back(sum);
    }
    return Status::ok();
  }

  Status decode_buffers(const fbs::RecordBatch& source, int64_t body_offset) {
    const int64_t body_size = batch_->location.body_size;
    const int64_t count = vector_size(source.buffers());
    const auto groups = static_cast<size_t>(schema_.total().view_groups);
    const auto expected = static_cast<int64_t>(batch_->first_buffer(schema_.total()));
    if (!count_fits(count, expected)) return bad_count("buffers", count, expected);
    batch_->buffers.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      const auto buffer = vector_element<fbs::Buffer>(*source.buffers(), static_cast<flatbuffers::uoffset_t>(i));
      if (buffer.offset() < 0 || buffer.length() < 0 || buffer.offset() > body_size ||
          buffer.length() > body_size - buffer.offset()) {
        return corrupt("buffer " + std::to_string(i) + " (offset " + std::to_string(buffer.offset()) + ", length " +
                       std::to_string(buffer.length()) + ") is outside of the record batch's body of " +
                       std::to_string(body_size) + " bytes");
      }
      batch_->buffers.push_back({body_offset + buffer.offset(), buffer.length()});
    }
    if (groups > 0) {
      for (const BufferPlace& place : batch_->buffers) {
        batch_->addresses.push_back(reinterpret_cast<const char*>(file_.data + place.offset));
        batch_->sizes.push_back(place.length);
      }
    }
    return Status::ok();
  }

  const FileBytes& file_;
  const DecodedSchema& schema_;
  std::unique_ptr<BatchLayout> batch_;
  int64_t offset_ = 0;  // of the metadata, for messages
};

Status bad_buffer(const FileBytes& file, const Field& field, const BufferPlace& buffer, const std::string& what) {
  return file.corrupt(buffer.offset, "column \"" + field.name + "\" " + what);
}

Status check_aligned(const FileBytes& file, const Field& field, const BufferPlace& buffer) {
  if (buffer.length == 0 || buffer.offset % kBufferAlignment == 0) return Status::ok();
  return bad_buffer(file, field, buffer, "has a buffer that is not aligned to 8 bytes");
}

/// Bytes that `rows` rows need in the values buffer, compared without overflow.
bool holds_rows(const Field& field, int64_t bytes, int64_t rows) {
  if (rows == 0) return true;  // no offset either: writers may leave the buffer out
  const int64_t width = columnar::value_width(field.layout, field.byte_width);
  if (width == 0) return (rows - 1) / 8 < bytes;
  return columnar::has_offsets(field.layout) ? rows < bytes / width : rows <= bytes / width;
}

}  // namespace

Result<std::unique_ptr<const BatchLayout>> decode_batch(const FileBytes& file, const DecodedSchema& schema,
                                                        const BatchLocation& location) {
  return BatchDecoder(file, schema, location).decode();
}

Result<ColumnView> column_view(const FileBytes& file, const DecodedSchema& schema, const BatchLayout& batch,
                               int field_index) {
  const Field& field = schema.schema.fields[static_cast<size_t>(field_index)];
  const EntryCounts& place = schema.places[static_cast<size_t>(field_index)];
  const NodeSize& node = batch.nodes[static_cast<size_t>(place.nodes)];
  const size_t first = batch.first_buffer(place);
  const BufferPlace& validity = batch.buffers[first];
  const BufferPlace& values = batch.buffers[first + 1];

  ColumnView view;
  view.layout = field.layout;
  view.unit = field.unit;
  view.byte_width = field.byte_width;
  view.length = node.length;
  view.null_count = node.null_count;
  if (node.null_count > 0) {
    STROM_TRY(check_aligned(file, field, validity));
    if ((node.length - 1) / 8 >= validity.length) {
      return bad_buffer(file, field, validity, "has nulls and a validity bitmap shorter than its rows");
    }
    view.validity = file.data + validity.offset;
  }
  STROM_TRY(check_aligned(file, field, values));
  if (!holds_rows(field, values.length, node.length)) {
    return bad_buffer(file, field, values,
                      "has " + std::to_string(node.length) + " rows and a buffer of " + std::to_string(values.length) +
                          " bytes, which is too small");
  }
  view.values = file.data + values.offset;
  if (columnar::has_offsets(field.layout)) {
    const BufferPlace& data = batch.buffers[first + 2];
    view.data = reinterpret_cast<const char*>(file.data + data.offset);
    view.data_size = data.length;
  } else if (field.layout == Layout::kUtf8View) {
    const auto group = static_cast<size_t>(place.view_groups);
    view.variadic = batch.addresses.data() + first + 2;
    view.variadic_sizes = batch.sizes.data() + first + 2;
    view.variadic_count = static_cast<int32_t>(batch.view_buffers[group + 1] - batch.view_buffers[group]);
  }
  return view;
}

int64_t column_buffer_bytes(const DecodedSchema& schema, const BatchLayout& batch, int field_index) {
  const auto field = static_cast<size_t>(field_index);
  const size_t end = batch.first_buffer(schema.places[field + 1]);
  int64_t bytes = 0;
  for (size_t i = batch.first_buffer(schema.places[field]); i < end; ++i) bytes += batch.buffers[i].length;
  return bytes;
}

}  // namespace strom::format::arrow
