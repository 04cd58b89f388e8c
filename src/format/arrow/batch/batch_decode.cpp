// See batch_decode.hpp.
#include "format/arrow/batch/batch_decode.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <optional>
#include <utility>

#include "base/no_read_ahead.hpp"
#include "columnar/layout.hpp"
#include "columnar/text.hpp"
#include "format/arrow/batch/dictionary.hpp"
#include "format/arrow/metadata/message.hpp"

namespace strom::format::arrow {

namespace {

using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

constexpr int64_t kBufferAlignment = 8;

class BatchDecoder {
 public:
  BatchDecoder(const FileBytes& file, const DecodedSchema& schema, const BatchLocation& location, int number)
      : file_(file), schema_(schema), batch_(std::make_unique<BatchLayout>()) {
    batch_->number = number;
    batch_->location = location;
  }

  Result<std::unique_ptr<const BatchLayout>> decode(bool is_dictionary) {
    const BatchLocation& location = batch_->location;
    const int64_t body_offset = location.offset + location.meta_size;
    STROM_ASSIGN(const Message message, load_message(file_, location.offset, body_offset, "a record batch"));
    offset_ = message.metadata_offset;
    const fbs::RecordBatch* source = message.root().header_as_RecordBatch();
    if (is_dictionary) {
      const fbs::DictionaryBatch* dictionary = message.root().header_as_DictionaryBatch();
      source = dictionary == nullptr ? nullptr : dictionary->data();
    }
    if (source == nullptr) return corrupt("a message that should be a record batch is of another kind");
    if (message.root().body_length() != location.body_size) {
      return corrupt("a record batch and the footer differ in the size of the batch's body");
    }
    if (source->compression() != nullptr) STROM_TRY(decode_compression(*source->compression()));
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

  Status decode_compression(const fbs::BodyCompression& compression) {
    const bool by_buffer = compression.method() == fbs::BodyCompressionMethod::Buffer;
    if (by_buffer && compression.codec() == fbs::CompressionType::Lz4Frame) {
      batch_->codec = Codec::kLz4Frame;
    } else if (by_buffer && compression.codec() == fbs::CompressionType::Zstd) {
      batch_->codec = Codec::kZstd;
    } else {
      return Status(ErrorCode::kUnsupported, "file \"" + file_.path + "\" uses a compression that is not known")
          .with_detail("The record batch at byte offset " + std::to_string(batch_->location.offset) +
                       " is compressed by neither LZ4 nor ZSTD.");
    }
    return Status::ok();
  }

  /// The metadata must have exactly the entries that the schema needs. If the schema ends in types that are unknown
  /// here, they may have more.
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
    if (groups > 0 && batch_->codec == Codec::kNone) {
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

/// Bytes that `rows` rows need in the values buffer at least; nullopt when no buffer can be that large.
std::optional<int64_t> values_bytes(const Field& field, int64_t rows) {
  if (rows == 0) return 0;  // no offset either: writers may omit the buffer
  const int64_t width = columnar::value_width(field.layout, field.byte_width);
  if (width == 0) return (rows - 1) / 8 + 1;
  int64_t bytes;
  const bool one_more = columnar::has_offsets(field.layout) || columnar::has_list_offsets(field.layout);
  const int64_t values = one_more ? rows + 1 : rows;
  if (rows == INT64_MAX || __builtin_mul_overflow(values, width, &bytes)) return std::nullopt;
  return bytes;
}

/// Memory that one column and its parts point to.
struct Owned {
  std::shared_ptr<BufferPool> pool;
  std::vector<Memory> buffers;
  std::deque<std::vector<const char*>> addresses;
  std::deque<std::vector<int64_t>> sizes;
  std::deque<std::vector<ColumnView>> children;
  std::vector<std::shared_ptr<const void>> dictionaries;

  explicit Owned(std::shared_ptr<BufferPool> from) : pool(std::move(from)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    for (Memory& buffer : buffers)
      if (pool != nullptr) pool->give(std::move(buffer));
  }
};

/// Data that the loaders of one column share.
struct ColumnContext {
  const FileBytes& file;
  const BatchLayout& batch;
  const Dictionaries& dictionaries;
  int version;
  const std::string& name;  // of the column, for messages
  std::shared_ptr<BufferPool> pool;
  std::shared_ptr<Owned> memory;  // nullptr until it is used
};

/// Loads one column of one record batch, or a part of one. Of compressed batches, only the needed part of each buffer
/// is decompressed.
class ColumnLoader {
 public:
  ColumnLoader(ColumnContext& context, const Field& field, const FieldPlace& place)
      : file_(context.file),
        batch_(context.batch),
        context_(context),
        field_(field),
        place_(place),
        first_(batch_.first_buffer(place.at)),
        memory_(context.memory) {}

  /// Bytes of the batch's buffers up to `end`.
  Result<int64_t> memory_bytes(size_t end) const {
    int64_t sum = 0;
    for (size_t i = 0; i + first_ < end; ++i) {
      STROM_ASSIGN(const int64_t bytes, declared_size(i));
      if (__builtin_add_overflow(sum, bytes, &sum)) return INT64_MAX;
    }
    return sum;
  }

  Result<ColumnView> load() {
    if (field_.dictionary) return load_encoded();
    if (columnar::is_nested(field_.layout)) return load_nested();
    STROM_ASSIGN(ColumnView view, begin());
    if (field_.layout == Layout::kNull) return view;
    const NodeSize& node = batch_.nodes[static_cast<size_t>(place_.at.nodes)];
    const auto wanted = values_bytes(field_, node.length);
    if (!wanted) return too_many_rows(node.length);
    STROM_ASSIGN(const Bytes values, fixed(1, *wanted, "a buffer"));
    view.values = values.data;
    if (columnar::has_offsets(field_.layout)) {
      STROM_TRY(load_text(&view));
    } else if (columnar::is_view(field_.layout)) {
      STROM_TRY(load_view_buffers(&view));
    }
    return view;
  }

 private:
  /// Loads indexes into a dictionary; if the dictionary's values have a fixed width, the values themselves.
  Result<ColumnView> load_encoded() {
    const DictionaryEncoding& encoding = *place_.dictionary;
    STROM_ASSIGN(const DictionaryView dictionary, context_.dictionaries.find(file_, encoding, context_.version));
    STROM_ASSIGN(ColumnView view, begin());
    view.layout = Layout::kDictionary;
    view.byte_width = encoding.index_width;
    int64_t wanted;
    if (__builtin_mul_overflow(view.length, int64_t{encoding.index_width}, &wanted)) return too_many_rows(view.length);
    STROM_ASSIGN(const Bytes indexes, fixed(1, wanted, "a buffer"));
    view.values = indexes.data;
    view.dictionary_size = dictionary.size;
    view.dictionary = dictionary.texts;
    view.children = dictionary.parts;
    view.child_count = dictionary.part_count;
    if (dictionary.nulls != nullptr) STROM_TRY(add_nulls(dictionary, &view));
    if (dictionary.values != nullptr) STROM_TRY(decode_values(dictionary, &view));
    own().dictionaries.push_back(dictionary.memory);
    return view;
  }

  Result<ColumnView> load_nested() {
    STROM_ASSIGN(ColumnView view, begin());
    size_t values = 1;
    if (columnar::is_union(field_.layout)) values = batch_.is_v4 ? 1 : 0;  // there is a bitmap without meaning
    if (columnar::value_width(field_.layout, 0) > 0) {
      const auto wanted = values_bytes(field_, view.length);
      if (!wanted) return too_many_rows(view.length);
      STROM_ASSIGN(const Bytes bytes, fixed(values, *wanted, "a buffer"));
      view.values = bytes.data;
    }
    int64_t second = 0;
    if (columnar::is_list_view(field_.layout)) second = columnar::value_width(field_.layout, 0);
    if (field_.layout == Layout::kDenseUnion) second = sizeof(int32_t);
    if (second > 0) {
      int64_t wanted;
      if (__builtin_mul_overflow(view.length, second, &wanted)) return too_many_rows(view.length);
      STROM_ASSIGN(const Bytes bytes, fixed(values + 1, wanted, "a buffer"));
      view.data = reinterpret_cast<const char*>(bytes.data);
      view.data_size = wanted;
    }
    STROM_TRY(load_children(&view));
    return view;
  }

  bool has_v4_bitmap() const { return columnar::is_union(field_.layout) || field_.layout == Layout::kRunEndEncoded; }

  Status load_children(ColumnView* view) {
    std::vector<ColumnView> children;
    for (size_t i = 0; i < field_.children.size(); ++i) {
      STROM_ASSIGN(children.emplace_back(), ColumnLoader(context_, field_.children[i], place_.children[i]).load());
      STROM_TRY(check_length(*view, children.back()));
    }
    own().children.push_back(std::move(children));
    view->children = memory_->children.back().data();
    view->child_count = static_cast<int32_t>(field_.children.size());
    return Status::ok();
  }

  /// Structs and sparse unions have as many rows as their children; the child of a list of fixed size has a multiple.
  Status check_length(const ColumnView& view, const ColumnView& child) const {
    int64_t wanted = 0;
    if (field_.layout == Layout::kStruct || field_.layout == Layout::kSparseUnion) wanted = view.length;
    if (field_.layout == Layout::kFixedList && __builtin_mul_overflow(view.length, int64_t{view.byte_width}, &wanted))
      wanted = INT64_MAX;
    if (child.length >= wanted) return Status::ok();
    return file_.corrupt(batch_.location.offset, "column \"" + context_.name + "\" of record batch " +
                                                     std::to_string(batch_.number) + " has a part of " +
                                                     std::to_string(child.length) + " rows where it needs " +
                                                     std::to_string(wanted));
  }

  Result<ColumnView> begin() {
    const NodeSize& node = batch_.nodes[static_cast<size_t>(place_.at.nodes)];
    ColumnView view;
    view.layout = field_.layout;
    view.unit = field_.unit;
    view.byte_width = field_.byte_width;
    view.length = node.length;
    view.null_count = node.null_count;
    const bool has_bitmap = field_.dictionary || (has_v4_bitmap() ? batch_.is_v4 : field_.layout != Layout::kNull);
    if (node.null_count > 0 && has_bitmap) {
      STROM_ASSIGN(const Bytes validity, fixed(0, (node.length - 1) / 8 + 1, "a validity bitmap"));
      view.validity = validity.data;
    }
    return view;
  }

  Owned& own() {
    if (!memory_) memory_ = std::make_shared<Owned>(context_.pool);
    return *memory_;
  }

  Result<char*> own_memory(int64_t size) {
    Memory memory;
    memory.bytes.reset(static_cast<char*>(std::calloc(static_cast<size_t>(size) + 1, 1)));
    if (memory.bytes == nullptr) return Status(ErrorCode::kOutOfMemory, "out of memory for a column");
    memory.capacity = size;
    own().buffers.push_back(std::move(memory));
    return memory_->buffers.back().bytes.get();
  }

  /// Makes rows NULL whose index leads to a NULL.
  Status add_nulls(const DictionaryView& dictionary, ColumnView* view) {
    STROM_ASSIGN(char* const bits, own_memory(view->length / 8 + 1));
    view->null_count = 0;
    for (int64_t row = 0; row < view->length; ++row) {
      const uint64_t index = columnar::dictionary_index(*view, row);
      const bool is_null = !columnar::is_valid(*view, row) ||
                           (index < static_cast<uint64_t>(dictionary.size) && dictionary.nulls[index] != 0);
      view->null_count += is_null;
      if (!is_null) bits[row >> 3] = static_cast<char>(bits[row >> 3] | (1 << (row & 7)));
    }
    view->validity = reinterpret_cast<const uint8_t*>(bits);
    return Status::ok();
  }

  Status decode_values(const DictionaryView& dictionary, ColumnView* view) {
    const auto width = static_cast<size_t>(columnar::value_width(field_.layout, field_.byte_width));
    int64_t bytes;
    if (__builtin_mul_overflow(view->length, static_cast<int64_t>(width), &bytes) || bytes == INT64_MAX)
      return bad(1, "claims " + std::to_string(view->length) + " rows, for which no memory is large enough");
    STROM_ASSIGN(char* to, own_memory(bytes));
    const void* const values = to;
    for (int64_t row = 0; row < view->length; ++row, to += width) {
      if (!columnar::is_valid(*view, row)) continue;
      const uint64_t index = columnar::dictionary_index(*view, row);
      if (index >= static_cast<uint64_t>(dictionary.size))
        return bad(1, "of record batch " + std::to_string(batch_.number) + " has an index outside of its dictionary");
      std::memcpy(to, dictionary.values + index * width, width);
    }
    view->layout = field_.layout;
    view->byte_width = field_.byte_width;
    view->values = values;
    return Status::ok();
  }

  struct Bytes {
    const uint8_t* data = nullptr;
    int64_t size = 0;
  };
  const BufferPlace& buffer(size_t index) const { return batch_.buffers[first_ + index]; }

  Status bad(size_t index, const std::string& what) const {
    return file_.corrupt(buffer(index).offset, "column \"" + context_.name + "\" " + what);
  }

  Status too_many_rows(int64_t rows) const {
    return file_.corrupt(batch_.location.offset, "column \"" + context_.name + "\" claims " + std::to_string(rows) +
                                                     " rows, for which any buffer is too small");
  }

  Status too_small(size_t index, const char* what, int64_t size, int64_t wanted) const {
    return bad(index, "of record batch " + std::to_string(batch_.number) + " has " + what + " of " +
                          std::to_string(size) + " bytes, which is too small: its rows need " + std::to_string(wanted));
  }

  /// A buffer of at least `wanted` bytes, of which only these are used.
  Result<Bytes> fixed(size_t index, int64_t wanted, const char* what) {
    const BufferPlace& place = buffer(index);
    if (batch_.codec == Codec::kNone) {
      if (place.length > 0 && place.offset % kBufferAlignment != 0)
        return bad(index, "has a buffer that is not aligned to 8 bytes");
      if (place.length < wanted) return too_small(index, what, place.length, wanted);
      return Bytes{file_.data + place.offset, place.length};
    }
    STROM_ASSIGN(const int64_t declared, declared_size(index));
    if (declared < wanted) return too_small(index, what, declared, wanted);
    return expand(index, declared, wanted);
  }

  /// A buffer of any size.
  Result<Bytes> whole(size_t index) {
    const BufferPlace& place = buffer(index);
    if (batch_.codec == Codec::kNone) return Bytes{file_.data + place.offset, place.length};
    STROM_ASSIGN(const int64_t declared, declared_size(index));
    return expand(index, declared, declared);
  }

  /// Bytes of a compressed batch's buffer after decompression, as the file declares them.
  Result<int64_t> declared_size(size_t index) const {
    const BufferPlace& place = buffer(index);
    if (place.length == 0) return int64_t{0};
    if (place.length < kPrefixBytes) return bad(index, "has a compressed buffer without the size of its content");
    const auto declared = file_.load<int64_t>(place.offset);
    if (declared == kNotCompressed) return place.length - kPrefixBytes;
    if (declared < 0) return bad(index, "has a compressed buffer of a negative size");
    return declared;
  }

  Result<Bytes> expand(size_t index, int64_t declared, int64_t wanted) {
    const BufferPlace& place = buffer(index);
    own();
    if (wanted == 0) return Bytes{file_.data + place.offset, 0};
    const bool stored = file_.load<int64_t>(place.offset) == kNotCompressed;
    const uint8_t* data = file_.data + place.offset + kPrefixBytes;
    const int64_t size = place.length - kPrefixBytes;
    if (stored && reinterpret_cast<uintptr_t>(data) % kBufferAlignment == 0 && size >= wanted)
      return Bytes{data, wanted};
    Decompressed made;
    if (stored) {
      STROM_ASSIGN(made, copy(data, std::min(size, wanted)));
    } else {
      auto result = decompress(batch_.codec, data, size, declared, wanted, context_.pool.get());
      if (result.status().code() == ErrorCode::kCorruptFile)
        return bad(index, "of record batch " + std::to_string(batch_.number) + " has damaged " +
                              codec_name(batch_.codec) + " data: " + result.status().message());
      STROM_ASSIGN(made, std::move(result));
    }
    memory_->buffers.push_back(std::move(made.memory));
    return Bytes{reinterpret_cast<const uint8_t*>(memory_->buffers.back().bytes.get()), wanted};
  }

  static Result<Decompressed> copy(const uint8_t* data, int64_t size) {
    Decompressed made;
    made.memory.bytes.reset(static_cast<char*>(std::malloc(static_cast<size_t>(size) + 1)));
    if (made.memory.bytes == nullptr) return Status(ErrorCode::kOutOfMemory, "out of memory for a column");
    made.memory.capacity = size;
    std::memcpy(made.memory.bytes.get(), data, static_cast<size_t>(size));
    made.size = size;
    return made;
  }

  /// Loads text; of a compressed batch only up to the last offset.
  Status load_text(ColumnView* view) {
    if (batch_.codec == Codec::kNone) {
      STROM_ASSIGN(const Bytes data, whole(2));
      view->data = reinterpret_cast<const char*>(data.data);
      view->data_size = data.size;
      return Status::ok();
    }
    int64_t end = 0;
    if (view->length > 0)
      end = columnar::value_width(field_.layout, 0) == sizeof(int32_t)
                ? static_cast<const int32_t*>(view->values)[view->length]
                : static_cast<const int64_t*>(view->values)[view->length];
    STROM_ASSIGN(const int64_t declared, declared_size(2));
    if (end < 0 || end > declared) return bad(2, "has text that ends outside of its buffer");
    STROM_ASSIGN(const Bytes data, expand(2, declared, end));
    view->data = reinterpret_cast<const char*>(data.data);
    view->data_size = end;
    return Status::ok();
  }

  Status load_view_buffers(ColumnView* view) {
    const auto group = static_cast<size_t>(place_.at.view_groups);
    const auto count = static_cast<size_t>(batch_.view_buffers[group + 1] - batch_.view_buffers[group]);
    view->variadic_count = static_cast<int32_t>(count);
    if (batch_.codec == Codec::kNone) {
      view->variadic = batch_.addresses.data() + first_ + 2;
      view->variadic_sizes = batch_.sizes.data() + first_ + 2;
      return Status::ok();
    }
    std::vector<const char*> addresses;
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < count; ++i) {
      STROM_ASSIGN(const Bytes data, whole(2 + i));
      addresses.push_back(reinterpret_cast<const char*>(data.data));
      sizes.push_back(data.size);
    }
    own().addresses.push_back(std::move(addresses));
    memory_->sizes.push_back(std::move(sizes));
    view->variadic = memory_->addresses.back().data();
    view->variadic_sizes = memory_->sizes.back().data();
    return Status::ok();
  }

  static constexpr int64_t kPrefixBytes = 8, kNotCompressed = -1;

  const FileBytes& file_;
  const BatchLayout& batch_;
  ColumnContext& context_;
  const Field& field_;
  const FieldPlace& place_;
  const size_t first_;
  std::shared_ptr<Owned>& memory_;
};

}  // namespace

Result<std::unique_ptr<const BatchLayout>> decode_batch(const FileBytes& file, const DecodedSchema& schema,
                                                        const BatchLocation& location, int number) {
  return BatchDecoder(file, schema, location, number).decode(false);
}

Result<std::unique_ptr<const BatchLayout>> decode_dictionary(const FileBytes& file, const DecodedSchema& values,
                                                             const BatchLocation& location) {
  return BatchDecoder(file, values, location, 0).decode(true);
}

Result<LoadedColumn> load_column(const FileBytes& file, const DecodedSchema& schema, const BatchLayout& batch,
                                 int field_index, const std::shared_ptr<BufferPool>& pool,
                                 const Dictionaries& dictionaries, int version) {
  const auto index = static_cast<size_t>(field_index);
  const Field& field = schema.schema.fields[index];
  const size_t end = batch.first_buffer(schema.places[index + 1]);
  const bool is_plain = field.layout == Layout::kBool || columnar::has_fixed_width(field.layout, field.byte_width);
  if (!base::NoReadAhead::is_active() || batch.codec != Codec::kNone || !is_plain)
    for (size_t i = batch.first_buffer(schema.places[index]); i < end; ++i)
      file.will_need(batch.buffers[i].offset, batch.buffers[i].length);
  ColumnContext context{file, batch, dictionaries, version, field.name, pool, nullptr};
  LoadedColumn loaded;
  STROM_ASSIGN(static_cast<ColumnView&>(loaded), ColumnLoader(context, field, schema.trees[index]).load());
  loaded.memory = std::move(context.memory);
  return loaded;
}

Result<int64_t> column_memory_bytes(const FileBytes& file, const DecodedSchema& schema, const BatchLayout& batch,
                                    int field_index) {
  if (batch.codec == Codec::kNone) return int64_t{0};
  const auto index = static_cast<size_t>(field_index);
  const Field& field = schema.schema.fields[index];
  const Dictionaries none;
  ColumnContext context{file, batch, none, 0, field.name, nullptr, nullptr};
  return ColumnLoader(context, field, schema.trees[index]).memory_bytes(batch.first_buffer(schema.places[index + 1]));
}

int64_t column_buffer_bytes(const DecodedSchema& schema, const BatchLayout& batch, int field_index) {
  const auto field = static_cast<size_t>(field_index);
  const size_t end = batch.first_buffer(schema.places[field + 1]);
  int64_t bytes = 0;
  for (size_t i = batch.first_buffer(schema.places[field]); i < end; ++i) bytes += batch.buffers[i].length;
  return bytes;
}

}  // namespace strom::format::arrow
