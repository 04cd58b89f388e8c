#include "store/rows/shape.hpp"

#include <algorithm>
#include <cstring>

#include "store/checksum.hpp"
#include "store/huge_pages.hpp"

namespace strom::store::rows {

namespace {

constexpr uint64_t kPage = 4096, kLine = 64;
constexpr uint64_t kVersionBytes = 16, kBlockBytes = 16, kInfoBytes = 64;
constexpr double kBucketsPerRow = 1.2;

uint64_t up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

void put(std::string* bytes, uint64_t value) { bytes->append(reinterpret_cast<const char*>(&value), sizeof(value)); }
void put(std::string* bytes, const std::string& text) {
  put(bytes, text.size());
  bytes->append(text);
}

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  uint64_t number() {
    uint64_t value = 0;
    if (rest_.size() < sizeof(value)) return is_good_ = false, 0;
    std::memcpy(&value, rest_.data(), sizeof(value));
    rest_.remove_prefix(sizeof(value));
    return value;
  }
  std::string text() {
    const uint64_t size = number();
    if (size > rest_.size()) return is_good_ = false, std::string();
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  bool is_good() const { return is_good_; }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace

Status check_shape(const Shape& shape) {
  if (shape.columns.empty() || shape.columns.size() > kMaxColumns)
    return {ErrorCode::kInvalidParameter,
            "a store table needs between 1 and " + std::to_string(kMaxColumns) + " columns"};
  if (shape.max_rows == 0 || shape.max_rows > kMaxRows)
    return {ErrorCode::kInvalidParameter, "a store table has between 1 and " + std::to_string(kMaxRows) + " rows"};
  if (shape.key < -1 || shape.key >= static_cast<int32_t>(shape.columns.size()))
    return {ErrorCode::kInvalidParameter, "the key of a store table is none of its columns"};
  for (const Column& column : shape.columns) {
    const bool is_fixed = column.form == Form::kFixed;
    if ((!is_fixed && column.form != Form::kView) || (is_fixed && (column.width == 0 || column.width > kMaxWidth)))
      return {ErrorCode::kInvalidParameter, "column \"" + column.name + "\" has no form that a store table knows"};
  }
  return Status::ok();
}

std::string encode_shape(const Shape& shape) {
  std::string bytes;
  put(&bytes, shape.max_rows);
  put(&bytes, static_cast<uint64_t>(int64_t{shape.key} + 1));
  put(&bytes, shape.columns.size());
  for (const Column& column : shape.columns) {
    put(&bytes, static_cast<uint64_t>(column.form));
    put(&bytes, column.width);
    put(&bytes, column.type_id);
    put(&bytes, static_cast<uint32_t>(column.typmod));
    put(&bytes, column.name);
    put(&bytes, column.type);
  }
  return bytes;
}

uint64_t hash_shape(Shape shape) {
  for (Column& column : shape.columns) column.name = column.type = "";
  const std::string bytes = encode_shape(shape);
  return crc64(bytes.data(), bytes.size());
}

Result<Shape> decode_shape(std::string_view bytes) {
  Decoder decoder(bytes);
  Shape shape;
  shape.max_rows = decoder.number();
  shape.key = static_cast<int32_t>(decoder.number()) - 1;
  const uint64_t columns = std::min<uint64_t>(decoder.number(), kMaxColumns + 1);
  for (uint64_t i = 0; i < columns && decoder.is_good(); ++i) {
    Column column;
    column.form = static_cast<Form>(decoder.number());
    column.width = static_cast<uint32_t>(decoder.number());
    column.type_id = static_cast<uint32_t>(decoder.number());
    column.typmod = static_cast<int32_t>(decoder.number());
    column.name = decoder.text();
    column.type = decoder.text();
    shape.columns.push_back(std::move(column));
  }
  if (!decoder.is_good() || !decoder.is_at_end() || !check_shape(shape).is_ok())
    return Status(ErrorCode::kCorruptFile, "the description of a store table's columns is damaged");
  return shape;
}

Layout layout_of(const Shape& shape, uint64_t header_bytes) {
  Layout layout;
  // Old versions need slots in addition to the rows: as many again, so that one transaction can change every row.
  constexpr uint64_t kSpare = 4096;
  layout.slots = shape.max_rows * 2 + kSpare;
  layout.chunk_rows = static_cast<uint32_t>(std::min<uint64_t>(kChunkRows, up(layout.slots, kPage)));
  layout.chunks = (layout.slots + layout.chunk_rows - 1) / layout.chunk_rows;
  layout.slots = layout.chunks * layout.chunk_rows;
  if (shape.key >= 0)
    layout.bucket_count = static_cast<uint64_t>(static_cast<double>(shape.max_rows) * kBucketsPerRow) + kLine;

  layout.written = layout.chunk_rows / kBlockRows * kBlockBytes;
  layout.links = up(layout.written + layout.chunk_rows / kBlockRows * sizeof(uint64_t), kPage);
  uint64_t at = layout.links + up(layout.chunk_rows * sizeof(Slot), kPage);
  bool has_views = false;
  for (const Column& column : shape.columns) {
    layout.values.push_back(at);
    at += up(uint64_t{layout.chunk_rows} * column.value_bytes(), kLine);
    has_views = has_views || column.form == Form::kView;
  }
  layout.chunk_bytes = up(at, kPage);
  layout.null_bytes = up(layout.chunk_rows, kPage);

  layout.heads = up(header_bytes, kPage);
  layout.infos = layout.heads + up(layout.bucket_count * sizeof(Slot), kPage);
  layout.marks = layout.infos + up(layout.chunks * kInfoBytes, kPage);
  layout.pages = layout.marks + up(layout.chunks * shape.columns.size(), kPage);
  layout.head_bytes = layout.pages + up(layout.slots / kPageRows, kPage);
  layout.versions = up(layout.head_bytes, kHugePage);
  layout.nulls = layout.versions + up(layout.slots * kVersionBytes, kPage);
  layout.chunk_begin = up(layout.nulls + layout.chunks * shape.columns.size() * layout.null_bytes, kHugePage);
  layout.heap_begin = up(layout.chunk_begin + layout.chunks * layout.chunk_bytes, kHugePage);
  if (has_views) {
    constexpr uint64_t kMostHeap = uint64_t{256} << 30, kRowHeap = 16384;
    layout.heap_bytes = up(std::min(kMostHeap, layout.slots * kRowHeap), kHeapSegment);
  }
  layout.bytes = layout.heap_begin + layout.heap_bytes;
  return layout;
}

}  // namespace strom::store::rows
