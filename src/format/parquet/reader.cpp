// See reader.hpp. The file stays mapped. So it stays readable when it is replaced, and changes are noticed as with
// Arrow files.
#include "format/parquet/reader.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "base/blocked_signals.hpp"
#include "base/mapped_file.hpp"
#include "format/arrow/batch/decompress.hpp"
#include "format/geoarrow/geoparquet.hpp"
#include "format/parquet/module.hpp"

namespace strom::format::parquet {

namespace {

using arrow::BatchLocation;
using arrow::BufferPool;
using arrow::FileReader;
using arrow::LoadedColumn;
using columnar::Field;
using Module = strom_parquet_module_functions;

constexpr size_t kMagicBytes = 4;
constexpr char kMagic[] = "PAR1", kEncryptedMagic[] = "PARE";

using base::BlockedSignals;  // for a library that might start threads and must not be interrupted by signals

/// Bytes are copied from the mapping, so that checked bytes do not change when another process writes to the file.
void read_mapping(void* context, int64_t offset, int64_t size, void* bytes) {
  const auto* mapping = static_cast<const base::MappedFile*>(context);
  if (size <= 0) return;
  mapping->will_need(mapping->data() + offset, size);
  std::memcpy(bytes, mapping->data() + offset, static_cast<size_t>(size));
}

/// Bytes of an Arrow file made by the module, and their reader.
struct Decoded {
  std::shared_ptr<BufferPool> pool;
  arrow::Memory memory;
  int64_t size = 0;
  std::shared_ptr<const FileReader> file;
  std::shared_ptr<const void> column;  // memory that the file's reader has added

  ~Decoded() {
    column.reset();
    file.reset();
    if (pool != nullptr) pool->give(std::move(memory));
  }

  strom_parquet_target target() {
    return {this, [](void* context, int64_t size) { return static_cast<Decoded*>(context)->allocate(size); }};
  }

 private:
  void* allocate(int64_t bytes) noexcept {
    if (pool != nullptr) memory = pool->take(bytes);
    if (memory.bytes == nullptr) {
      memory.bytes.reset(static_cast<char*>(std::malloc(static_cast<size_t>(std::max<int64_t>(bytes, 1)))));
      memory.capacity = bytes;
    }
    return memory.bytes.get();
  }
};

class ParquetReader final : public FileReader {
 public:
  ParquetReader(std::shared_ptr<const base::MappedFile> mapping, const Module& module)
      : mapping_(std::move(mapping)), module_(module) {}
  ~ParquetReader() override {
    if (file_ != nullptr) module_.close(file_);
  }

  /// Called once, before the reader is shared.
  Status load() {
    Status status = load_metadata();
    if (status.code() == ErrorCode::kCorruptFile) STROM_TRY(check_unchanged());
    return status;
  }

  const std::string& path() const override { return mapping_->path(); }
  const char* format() const override { return "parquet"; }
  const base::FileIdentity& identity() const override { return mapping_->identity(); }
  const columnar::Schema& schema() const override { return fields_; }
  int batch_count() const override { return static_cast<int>(groups_.size()); }

  Result<BatchLocation> batch_location(int batch) const override {
    STROM_TRY(check_batch(batch));
    const strom_parquet_row_group& group = groups_[static_cast<size_t>(batch)];
    return BatchLocation{group.offset, 0, group.compressed_bytes};
  }

  Result<int64_t> batch_rows(int batch) const override {
    STROM_TRY(check_batch(batch));
    return groups_[static_cast<size_t>(batch)].rows;
  }

  Result<LoadedColumn> column(int batch, int field, const std::shared_ptr<BufferPool>& pool) const override {
    STROM_TRY(check_batch(batch));
    STROM_TRY(check_readable(field));
    auto loaded = within_memory<LoadedColumn>([&] { return decode(batch, field, pool); });
    if (loaded.status().code() == ErrorCode::kCorruptFile) STROM_TRY(check_unchanged());
    return loaded;
  }

  Result<bool> is_compressed(int batch) const override {
    STROM_TRY(check_batch(batch));
    return true;
  }

  Result<std::string> codec(int batch) const override {
    STROM_TRY(check_batch(batch));
    const strom_parquet_row_group& group = groups_[static_cast<size_t>(batch)];
    return std::string(group.codec, strnlen(group.codec, sizeof group.codec));
  }

  Result<int64_t> memory_bytes(int batch, int field) const override {
    STROM_ASSIGN(const strom_parquet_column known, metadata(batch, field));
    return known.memory_bytes;
  }

  Result<int64_t> column_bytes(int batch, int field) const override {
    STROM_ASSIGN(const strom_parquet_column known, metadata(batch, field));
    return known.compressed_bytes;
  }

  Result<int64_t> null_count(int batch, int field) const override {
    STROM_ASSIGN(const strom_parquet_column known, metadata(batch, field));
    return known.null_count >= 0 ? known.null_count : kUnknownNulls;
  }

  Result<std::optional<columnar::Bounds>> bounds(int batch, int field) const override {
    STROM_ASSIGN(const strom_parquet_column known, metadata(batch, field));
    columnar::Bounds::Kind kind;
    const Field& info = schema().fields[static_cast<size_t>(field)];
    if (columnar::is_box(info))
      kind = columnar::Bounds::Kind::kBox;
    else if (!columnar::bounds_kind(info.layout, &kind))
      return std::optional<columnar::Bounds>();
    return within_memory<std::optional<columnar::Bounds>>([&] { return bounds_of(known, kind); });
  }

  Result<bool> has_bounds(int field) const override {
    for (int batch = 0; batch < batch_count(); ++batch) {
      STROM_ASSIGN(const auto known, bounds(batch, field));
      if (known.has_value()) return true;
    }
    return false;
  }

  Status check_unchanged() const override { return mapping_->check_unchanged(); }
  bool is_poisoned() const override { return mapping_->is_poisoned(); }

 private:
  template <class T, class F>
  Result<T> within_memory(F f) const {
    try {
      return f();
    } catch (const std::bad_alloc&) {
      return Status(ErrorCode::kOutOfMemory, "out of memory while reading file \"" + path() + "\"");
    }
  }

  Status failure(int32_t code, const strom_parquet_error& error, const std::string& place = {}) const {
    const std::string file = "file \"" + path() + "\"";
    const std::string detail = place + error.message + ".";
    switch (code) {
      case STROM_PARQUET_UNSUPPORTED:
        return Status(ErrorCode::kUnsupported, file + " uses a feature of Parquet that cannot be read")
            .with_detail(detail);
      case STROM_PARQUET_OUT_OF_MEMORY:
        return Status(ErrorCode::kOutOfMemory, "out of memory while reading " + file).with_detail(detail);
      case STROM_PARQUET_OVER_BUDGET:
        return Status(ErrorCode::kOverBudget, file + " needs too much memory").with_detail(detail);
      case STROM_PARQUET_ENCRYPTED: return Status(ErrorCode::kUnsupported, file + " is encrypted").with_detail(detail);
      case STROM_PARQUET_INTERNAL: return Status(ErrorCode::kInternal, "could not read " + file).with_detail(detail);
      default: return Status(ErrorCode::kCorruptFile, file + " is not a correct Parquet file").with_detail(detail);
    }
  }

  Status check_ends() const {
    const uint8_t* bytes = mapping_->data();
    const auto size = static_cast<size_t>(mapping_->size());
    if (size < 2 * kMagicBytes + sizeof(uint32_t)) return cut_off();
    const uint8_t* end = bytes + size - kMagicBytes;
    if (std::memcmp(end, kEncryptedMagic, kMagicBytes) == 0)
      return Status(ErrorCode::kUnsupported, "file \"" + path() + "\" is encrypted");
    return std::memcmp(end, kMagic, kMagicBytes) == 0 ? Status::ok() : cut_off();
  }

  Status cut_off() const {
    return Status(ErrorCode::kCorruptFile, "file \"" + path() + "\" is not a correct Parquet file")
        .with_detail("It does not end with PAR1, it may have been cut off.");
  }

  Status load_metadata() {
    STROM_TRY(check_ends());
    strom_parquet_error error{};
    const BlockedSignals blocked;
    const strom_parquet_source source{const_cast<base::MappedFile*>(mapping_.get()), mapping_->size(), read_mapping};
    if (const int32_t code = module_.open(&source, &file_, &error); code != STROM_PARQUET_OK)
      return failure(code, error);
    schema_ = std::make_shared<Decoded>();
    const strom_parquet_target target = schema_->target();
    if (const int32_t code = module_.read_schema(file_, &target, &schema_->size, &error); code != STROM_PARQUET_OK)
      return failure(code, error);
    STROM_TRY(open_decoded(schema_.get()));
    fields_ = schema_->file->schema();
    geoarrow::name_geometries(&fields_);
    groups_.resize(static_cast<size_t>(module_.row_group_count(file_)));
    for (size_t i = 0; i < groups_.size(); ++i)
      if (const int32_t code = module_.row_group(file_, static_cast<int32_t>(i), &groups_[i], &error);
          code != STROM_PARQUET_OK)
        return failure(code, error);
    return Status::ok();
  }

  Status open_decoded(Decoded* decoded) const {
    const auto* bytes = reinterpret_cast<const uint8_t*>(decoded->memory.bytes.get());
    STROM_ASSIGN(decoded->file, FileReader::open_memory(path(), {bytes, static_cast<size_t>(decoded->size)}));
    return Status::ok();
  }

  Status check_batch(int batch) const {
    if (batch >= 0 && static_cast<size_t>(batch) < groups_.size()) return Status::ok();
    return Status(ErrorCode::kInternal, "file \"" + path() + "\" has no row group " + std::to_string(batch));
  }

  Status check_field(int field) const {
    if (field >= 0 && static_cast<size_t>(field) < schema().fields.size()) return Status::ok();
    return Status(ErrorCode::kInternal, "file \"" + path() + "\" has no column " + std::to_string(field));
  }

  Status check_readable(int field) const {
    STROM_TRY(check_field(field));
    const Field& info = schema().fields[static_cast<size_t>(field)];
    if (info.unsupported.empty()) return Status::ok();
    return Status(ErrorCode::kUnsupported,
                  "column \"" + info.name + "\" of file \"" + path() + "\" uses " + info.unsupported)
        .with_detail("Columns that use it cannot be read.");
  }

  Result<strom_parquet_column> metadata(int batch, int field) const {
    STROM_TRY(check_batch(batch));
    STROM_TRY(check_field(field));
    strom_parquet_column known{};
    strom_parquet_error error{};
    if (const int32_t code = module_.column(file_, batch, field, &known, &error); code != STROM_PARQUET_OK)
      return failure(code, error, place_of(batch, field));
    return known;
  }

  static std::optional<columnar::Bounds> bounds_of(const strom_parquet_column& known, columnar::Bounds::Kind kind) {
    using Kind = columnar::Bounds::Kind;
    columnar::Bounds bounds;
    bounds.kind = kind;
    if (known.bounds == STROM_PARQUET_INTEGERS && kind == Kind::kInteger) {
      const auto value = [](const strom_parquet_int128& words) {
        return static_cast<__int128>((static_cast<unsigned __int128>(words.high_word) << 64) | words.low_word);
      };
      bounds.low = value(known.low_integer);
      bounds.high = value(known.high_integer);
    } else if (known.bounds == STROM_PARQUET_REALS && kind == Kind::kReal) {
      bounds.low_real = known.low_real;
      bounds.high_real = known.high_real;
    } else if (known.bounds == STROM_PARQUET_TEXTS && kind == Kind::kText) {
      bounds.low_text.assign(known.low_text, static_cast<size_t>(known.low_size));
      bounds.high_text.assign(known.high_text, static_cast<size_t>(known.high_size));
      bounds.high_is_prefix = known.high_is_prefix != 0;
    } else if (known.bounds == STROM_PARQUET_BOX && kind == Kind::kBox) {
      std::copy(std::begin(known.box), std::end(known.box), bounds.box);
    } else {
      return {};
    }
    return bounds;
  }

  std::string place_of(int batch, int field) const {
    return "Column \"" + schema().fields[static_cast<size_t>(field)].name + "\" of row group " + std::to_string(batch) +
           ": ";
  }

  Result<LoadedColumn> decode(int batch, int field, const std::shared_ptr<BufferPool>& pool) const {
    auto decoded = std::make_shared<Decoded>();
    decoded->pool = pool;
    const strom_parquet_target target = decoded->target();
    strom_parquet_error error{};
    {
      const BlockedSignals blocked;
      const int32_t code = module_.read_column(file_, batch, field, &target, &decoded->size, &error);
      if (code != STROM_PARQUET_OK) return failure(code, error, place_of(batch, field));
    }
    STROM_TRY(open_decoded(decoded.get()));
    STROM_ASSIGN(LoadedColumn column, decoded->file->column(0, 0));
    if (column.length != groups_[static_cast<size_t>(batch)].rows)
      return Status(ErrorCode::kInternal, "column " + std::to_string(field) + " of file \"" + path() +
                                              "\" was decoded to another number of rows");
    decoded->column = std::move(column.memory);
    column.memory = std::move(decoded);
    return column;
  }

  std::shared_ptr<const base::MappedFile> mapping_;
  const Module& module_;
  strom_parquet_file* file_ = nullptr;
  std::shared_ptr<Decoded> schema_;
  columnar::Schema fields_;  // schema_'s, with what the file's metadata tell of them
  std::vector<strom_parquet_row_group> groups_;
};

}  // namespace

bool is_parquet_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return false;
  std::array<char, kMagicBytes> magic{};
  const ssize_t size = pread(fd, magic.data(), magic.size(), 0);
  close(fd);
  return size == static_cast<ssize_t>(magic.size()) && (std::memcmp(magic.data(), kMagic, kMagicBytes) == 0 ||
                                                        std::memcmp(magic.data(), kEncryptedMagic, kMagicBytes) == 0);
}

Result<std::shared_ptr<const FileReader>> open_file(const std::string& path) {
  try {
    const Module* module = nullptr;
    {
      const BlockedSignals blocked;
      STROM_ASSIGN(module, load_module());
    }
    STROM_ASSIGN(auto mapping, base::MappedFile::open(path));
    auto reader = std::make_shared<ParquetReader>(std::move(mapping), *module);
    STROM_TRY(reader->load());
    return std::shared_ptr<const FileReader>(std::move(reader));
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while opening file \"" + path + "\"");
  }
}

}  // namespace strom::format::parquet
