// See file.hpp. Nothing here may start a thread: signal handlers of PostgreSQL must not run in one.
#include "format/parquet/module/file.hpp"

#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/size_statistics.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "format/parquet/module/source_input.hpp"
#include "format/parquet/module/statistics.hpp"

namespace strom::parquet_module {

namespace {

/// Memory for one column of one row group, including everything that decoding needs.
constexpr int64_t kMostColumnBytes = int64_t{4} << 30;
constexpr int64_t kMostRows = std::numeric_limits<int32_t>::max();
/// Readers kept for the next column: about as many as a query has threads.
constexpr size_t kMostIdle = 32;

void require(const ::arrow::Status& status) {
  if (!status.ok()) throw ::parquet::ParquetStatusException(status);
}

template <class T>
T require(::arrow::Result<T> result) {
  require(result.status());
  return std::move(result).ValueUnsafe();
}

void collect_leaves(const ::parquet::arrow::SchemaField& field, std::vector<int>* leaves) {
  if (field.column_index >= 0) leaves->push_back(field.column_index);
  for (const auto& child : field.children) collect_leaves(child, leaves);
}

bool is_text(const ::arrow::DataType& type) {
  return type.id() == ::arrow::Type::STRING || type.id() == ::arrow::Type::LARGE_STRING;
}

bool is_dictionary(::parquet::Encoding::type encoding) {
  return encoding == ::parquet::Encoding::PLAIN_DICTIONARY || encoding == ::parquet::Encoding::RLE_DICTIONARY;
}

/// Arrow's extension name for a logical type that the library reads as bytes or text; nullptr: there is none.
const char* extension_of(const ::parquet::ColumnDescriptor& column) {
  const auto& logical = column.logical_type();
  if (logical == nullptr) return nullptr;
  if (logical->is_UUID()) return "arrow.uuid";
  if (logical->is_JSON()) return "arrow.json";
  return nullptr;
}

/// `field` and its parts with the metadata of Arrow's extension types.
std::shared_ptr<::arrow::Field> with_extension(const ::parquet::arrow::SchemaField& place,
                                               const ::parquet::SchemaDescriptor& schema,
                                               const std::shared_ptr<::arrow::Field>& field) {
  constexpr const char* kName = "ARROW:extension:name";
  if (place.is_leaf()) {
    const char* name = extension_of(*schema.Column(place.column_index));
    if (name == nullptr || (field->metadata() != nullptr && field->metadata()->Contains(kName))) return field;
    return field->WithMergedMetadata(::arrow::key_value_metadata({kName}, {name}));
  }
  const ::arrow::DataType& type = *field->type();
  if (static_cast<size_t>(type.num_fields()) != place.children.size()) return field;
  ::arrow::FieldVector parts;
  for (int i = 0; i < type.num_fields(); ++i)
    parts.push_back(with_extension(place.children[static_cast<size_t>(i)], schema, type.field(i)));
  if (type.id() == ::arrow::Type::STRUCT) return field->WithType(::arrow::struct_(parts));
  if (type.id() == ::arrow::Type::LIST) return field->WithType(::arrow::list(parts[0]));
  return field;
}

void write_file(const std::shared_ptr<::arrow::Schema>& schema, const ::arrow::RecordBatch* batch,
                ::arrow::MemoryPool* pool, ::arrow::io::OutputStream* sink) {
  ::arrow::ipc::IpcWriteOptions options = ::arrow::ipc::IpcWriteOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  options.allow_64bit = true;
  options.alignment = 64;
  const auto writer = require(::arrow::ipc::MakeFileWriter(sink, schema, options));
  if (batch != nullptr) require(writer->WriteRecordBatch(*batch));
  require(writer->Close());
}

/// The file is written twice: the first time only measures its length.
int64_t deliver(const std::shared_ptr<::arrow::Schema>& schema, const ::arrow::RecordBatch* batch,
                ::arrow::MemoryPool* pool, const strom_parquet_target& target) {
  ::arrow::io::MockOutputStream measure;
  write_file(schema, batch, pool, &measure);
  const int64_t size = measure.GetExtentBytesWritten();
  auto* bytes = static_cast<uint8_t*>(target.allocate(target.context, size));
  if (bytes == nullptr)
    throw Failure(STROM_PARQUET_OUT_OF_MEMORY, "out of memory for " + std::to_string(size) + " bytes");
  ::arrow::io::FixedSizeBufferWriter writer(std::make_shared<::arrow::MutableBuffer>(bytes, size));
  write_file(schema, batch, pool, &writer);
  if (require(writer.Tell()) != size)
    throw Failure(STROM_PARQUET_INTERNAL, "a column's size changed while it was written");
  return size;
}

}  // namespace

/// A reader borrowed from the file's idle ones, and given back.
class File::Borrowed {
 public:
  Borrowed(const File& file, bool texts_as_dictionaries) : file_(file), kind_(texts_as_dictionaries) {
    {
      std::lock_guard lock(file_.mutex_);
      auto& idle = file_.idle_[kind_];
      if (!idle.empty()) {
        reader_ = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (reader_ == nullptr) reader_ = file_.make_reader(texts_as_dictionaries);
  }
  /// Not called after a failure: the reader may be in any state.
  void give_back() {
    std::lock_guard lock(file_.mutex_);
    auto& idle = file_.idle_[kind_];
    if (idle.size() < kMostIdle) idle.push_back(std::move(reader_));
  }
  Reader* operator->() const { return reader_.get(); }

 private:
  const File& file_;
  const size_t kind_;
  std::unique_ptr<Reader> reader_;
};

File::File(const strom_parquet_source& source) : source_(source), metadata_pool_(kMostColumnBytes) {
  metadata_ = ::parquet::ParquetFileReader::Open(std::make_shared<SourceInput>(source_, &metadata_pool_),
                                                 ::parquet::ReaderProperties(&metadata_pool_))
                  ->metadata();
  auto first = make_reader(false);
  require(first->reader->GetSchema(&schema_));
  manifest_ = first->reader->manifest().schema_fields;
  for (const auto& field : manifest_) {
    is_flat_.push_back(field.is_leaf());
    leaves_.emplace_back();
    collect_leaves(field, &leaves_.back());
  }
  if (static_cast<int>(leaves_.size()) != schema_->num_fields())
    throw Failure(STROM_PARQUET_CORRUPT, "the columns do not fit the schema");
  int64_t rows = 0;
  for (int32_t i = 0; i < row_group_count(); ++i)
    if (__builtin_add_overflow(rows, row_group(i).rows, &rows))
      throw Failure(STROM_PARQUET_CORRUPT, "the number of rows is impossible");
  idle_[0].push_back(std::move(first));
}

std::unique_ptr<File::Reader> File::make_reader(bool texts_as_dictionaries) const {
  auto result = std::make_unique<Reader>(kMostColumnBytes);
  ::parquet::ReaderProperties format(&result->pool);
  format.set_page_checksum_verification(true);
  ::parquet::ArrowReaderProperties types(/*use_threads=*/false);
  types.set_pre_buffer(false);
  // PostgreSQL has no more digits. Microseconds also keep years that nanoseconds cannot count.
  types.set_coerce_int96_timestamp_unit(::arrow::TimeUnit::MICRO);
  if (texts_as_dictionaries)
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (is_text(*schema_->field(static_cast<int>(i))->type()))
        for (const int leaf : leaves_[i]) types.set_read_dictionary(leaf, true);
  ::parquet::arrow::FileReaderBuilder builder;
  require(builder.Open(std::make_shared<SourceInput>(source_, &result->pool), format, metadata_));
  require(builder.memory_pool(&result->pool)->properties(types)->Build(&result->reader));
  return result;
}

void File::check_field(int32_t field) const {
  if (field < 0 || static_cast<size_t>(field) >= leaves_.size())
    throw Failure(STROM_PARQUET_INTERNAL, "no such column");
}

// Nothing for a column with an encryption key of its own: the library throws when its metadata is accessed.
static std::optional<std::string> codec_of(const ::parquet::RowGroupMetaData& group, int column) {
  try {
    std::string name = ::arrow::util::Codec::GetCodecAsString(group.ColumnChunk(column)->compression());
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    return name == "UNCOMPRESSED" ? std::string() : name;
  } catch (const ::parquet::ParquetException&) {
    return std::nullopt;
  }
}

// The codec of a row group's readable columns.
static std::string codec_of(const ::parquet::RowGroupMetaData& group) {
  std::optional<std::string> name;
  for (int i = 0; i < group.num_columns(); ++i) {
    const std::optional<std::string> one = codec_of(group, i);
    if (name.has_value() && one.has_value() && *one != *name) return "mixed";
    if (one.has_value()) name = one;
  }
  return name.value_or("");
}

strom_parquet_row_group File::row_group(int32_t row_group) const {
  if (row_group < 0 || row_group >= row_group_count()) throw Failure(STROM_PARQUET_INTERNAL, "no such row group");
  const auto found = metadata_->RowGroup(row_group);
  const int64_t rows = found->num_rows();
  if (rows < 0) throw Failure(STROM_PARQUET_CORRUPT, "the number of rows is negative");
  if (rows > kMostRows)
    throw Failure(STROM_PARQUET_UNSUPPORTED,
                  "row group " + std::to_string(row_group) + " has more than " + std::to_string(kMostRows) + " rows");
  strom_parquet_row_group result{rows, found->file_offset(), found->total_compressed_size(), {}};
  const std::string codec = codec_of(*found);
  codec.copy(result.codec, sizeof result.codec - 1);
  return result;
}

// True when all pages have dictionary encoding. The column is then read as dictionary and indexes, which takes less
// time and memory than texts.
bool File::is_dictionary_encoded(int32_t row_group, int32_t field) const {
  const auto& leaves = leaves_[static_cast<size_t>(field)];
  if (!is_flat_[static_cast<size_t>(field)] || !is_text(*schema_->field(field)->type())) return false;
  const auto chunk = metadata_->RowGroup(row_group)->ColumnChunk(leaves[0]);
  if (!chunk->has_dictionary_page()) return false;
  bool any = false;
  for (const auto& pages : chunk->encoding_stats()) {
    if (pages.page_type == ::parquet::PageType::DICTIONARY_PAGE) continue;
    if (!is_dictionary(pages.encoding)) return false;
    any = true;
  }
  return any;
}

/// Bounds of a struct of boxes, from the statistics of its corners.
void File::read_box(const ::parquet::RowGroupMetaData& group, int32_t field, strom_parquet_column* result) const {
  constexpr const char* kCorners[] = {"xmin", "ymin", "xmax", "ymax"};
  const ::arrow::DataType& type = *schema_->field(field)->type();
  if (type.id() != ::arrow::Type::STRUCT) return;
  const auto& parts = manifest_[static_cast<size_t>(field)].children;
  for (int i = 0; i < 4; ++i) {
    const int part = static_cast<const ::arrow::StructType&>(type).GetFieldIndex(kCorners[i]);
    if (part < 0 || static_cast<size_t>(part) >= parts.size() || !parts[static_cast<size_t>(part)].is_leaf()) return;
    const int leaf = parts[static_cast<size_t>(part)].column_index;
    strom_parquet_column found{};
    read_statistics(*group.ColumnChunk(leaf), *metadata_->schema()->Column(leaf), *type.field(part)->type(), &found);
    if (found.bounds != STROM_PARQUET_REALS) return;
    result->box[i] = i < 2 ? found.low_real : found.high_real;
  }
  result->bounds = STROM_PARQUET_BOX;
}

strom_parquet_column File::column(int32_t row_group, int32_t field) const {
  check_field(field);
  strom_parquet_column result{};
  result.null_count = -1;
  const int64_t rows = this->row_group(row_group).rows;
  const auto& leaves = leaves_[static_cast<size_t>(field)];
  const auto group = metadata_->RowGroup(row_group);
  int64_t uncompressed = 0;
  for (const int leaf : leaves) {
    const auto chunk = group->ColumnChunk(leaf);
    result.compressed_bytes += std::max<int64_t>(chunk->total_compressed_size(), 0);
    uncompressed += std::max<int64_t>(chunk->total_uncompressed_size(), 0);
  }
  if (!is_flat_[static_cast<size_t>(field)]) {
    read_box(*group, field, &result);
    return result;
  }
  const auto chunk = group->ColumnChunk(leaves[0]);
  const ::arrow::DataType& type = *schema_->field(field)->type();
  read_statistics(*chunk, *metadata_->schema()->Column(leaves[0]), type, &result);
  const int width = type.bit_width();
  if (width > 0) {
    result.memory_bytes = rows * ((width + 7) / 8) + rows / 8;
  } else if (is_text(type) && !is_dictionary_encoded(row_group, field)) {
    const auto sizes = chunk->size_statistics();
    const int64_t text = sizes != nullptr && sizes->unencoded_byte_array_data_bytes.has_value()
                             ? *sizes->unencoded_byte_array_data_bytes
                             : uncompressed;
    result.memory_bytes = std::clamp<int64_t>(text, 0, kMostColumnBytes) + rows * 9;
  }
  return result;
}

int64_t File::read_schema(const strom_parquet_target& target) const {
  LimitedPool pool(kMostColumnBytes);
  ::arrow::FieldVector fields;
  for (int i = 0; i < schema_->num_fields(); ++i)
    fields.push_back(with_extension(manifest_[static_cast<size_t>(i)], *metadata_->schema(), schema_->field(i)));
  return deliver(::arrow::schema(std::move(fields), schema_->metadata()), nullptr, &pool, target);
}

int64_t File::read_column(int32_t row_group, int32_t field, const strom_parquet_target& target) const {
  check_field(field);
  const int64_t rows = this->row_group(row_group).rows;
  Borrowed reader(*this, is_dictionary_encoded(row_group, field));
  int64_t size = 0;
  try {
    auto table = require(reader->reader->ReadRowGroup(row_group, leaves_[static_cast<size_t>(field)]));
    if (table->num_columns() != 1 || table->num_rows() != rows)
      throw Failure(STROM_PARQUET_CORRUPT, "row group " + std::to_string(row_group) + " has " + std::to_string(rows) +
                                               " rows, but the column's pages hold " +
                                               std::to_string(table->num_rows()));
    if (table->column(0)->num_chunks() != 1) {
      table = require(table->CombineChunks(&reader->pool));
      if (rows > 0 && table->column(0)->num_chunks() != 1)
        throw Failure(STROM_PARQUET_UNSUPPORTED, "a row group has more than 2 GB of text in one column");
    }
    const auto schema = ::arrow::schema(table->schema()->fields());  // without the file's metadata
    const auto batch = rows > 0 ? ::arrow::RecordBatch::Make(schema, rows, {table->column(0)->chunk(0)}) : nullptr;
    size = deliver(schema, batch.get(), &reader->pool, target);
  } catch (...) {
    if (reader->pool.take_exceeded())
      throw Failure(STROM_PARQUET_OVER_BUDGET, "more than 4 GB of memory are needed for it");
    throw;
  }
  reader.give_back();
  return size;
}

}  // namespace strom::parquet_module
