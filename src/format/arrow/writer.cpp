// See writer.hpp. Every message is padded so that bodies, and all buffers in them, start at a multiple of 64 bytes.
#include "format/arrow/writer.hpp"

#include <sys/uio.h>

#include <new>
#include <utility>

#include "arrow_ipc_generated.h"
#include "columnar/layout.hpp"
#include "format/arrow/ipc.hpp"
#include "format/arrow/schema_encode.hpp"
#include "format/staged_file.hpp"

namespace strom::format::arrow {

namespace {

using columnar::BatchView;
using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

constexpr int64_t kAlignment = 64;
alignas(kAlignment) const char kZeros[kAlignment] = {};

int64_t padding(int64_t bytes) { return -bytes & (kAlignment - 1); }

/// Metadata and body of a record batch, collected as pieces that lie where the caller has them.
struct BatchBody {
  std::vector<fbs::FieldNode> nodes;
  std::vector<fbs::Buffer> buffers;
  std::vector<struct iovec> pieces;
  int64_t size = 0;

  void add(const void* bytes, int64_t count) {
    buffers.emplace_back(size, count);
    append(bytes, count);
    append(kZeros, padding(count));
    size += count + padding(count);
  }

 private:
  void append(const void* bytes, int64_t count) {
    if (count > 0) pieces.push_back({const_cast<void*>(bytes), static_cast<size_t>(count)});
  }
};

class Writer final : public FileWriter {
 public:
  Writer(std::unique_ptr<StagedFile> file, columnar::Schema schema)
      : file_(std::move(file)), schema_(std::move(schema)) {}

  Status write_start() {
    STROM_TRY(file_->append(
        {{const_cast<char*>(kMagic), kMagicBytes}, {const_cast<char*>(kZeros), kHeaderBytes - kMagicBytes}}));
    flatbuffers::FlatBufferBuilder builder;
    const auto schema = encode_schema(builder, schema_);
    return write_message(builder, fbs::MessageHeader::Schema, schema.Union(), 0, {}, nullptr);
  }

  Status write(const BatchView& batch) override {
    return keep_failure(within_memory([&] { return write_batch(batch); }));
  }

  void set_metadata(int field, columnar::KeyValues metadata) override {
    if (field < 0) {
      schema_.metadata = std::move(metadata);
    } else if (static_cast<size_t>(field) < schema_.fields.size()) {
      schema_.fields[static_cast<size_t>(field)].metadata = std::move(metadata);
    }
  }

  Status finish() override {
    return keep_failure(within_memory([&]() -> Status {
      STROM_TRY(write_footer());
      return file_->commit();
    }));
  }

 private:
  template <class F>
  Status within_memory(F f) const {
    if (!failure_.is_ok()) return failure_;
    try {
      return f();
    } catch (const std::bad_alloc&) {
      return Status(ErrorCode::kOutOfMemory, "out of memory while writing file \"" + file_->path() + "\"");
    }
  }

  /// After a failure, part of a message may be in the file: nothing more can be written, and finish() must not succeed.
  Status keep_failure(Status status) {
    if (!status.is_ok()) failure_ = status;
    return status;
  }

  Status invalid(const std::string& what) const {
    return Status(ErrorCode::kInvalidParameter, "could not write a record batch to file \"" + file_->path() + "\"")
        .with_detail(what + ".");
  }

  Status write_batch(const BatchView& batch) {
    if (batch.columns.size() != schema_.fields.size()) {
      return invalid("It has " + std::to_string(batch.columns.size()) + " columns where the file has " +
                     std::to_string(schema_.fields.size()));
    }
    BatchBody body;
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      STROM_TRY(check_column(schema_.fields[i], batch.columns[i], batch.rows));
      add_column(batch.columns[i], body);
    }
    flatbuffers::FlatBufferBuilder builder;
    const auto nodes = builder.CreateVectorOfStructs(body.nodes);
    const auto buffers = builder.CreateVectorOfStructs(body.buffers);
    const auto header = fbs::CreateRecordBatch(builder, batch.rows, nodes, buffers);
    fbs::Block block;
    STROM_TRY(write_message(builder, fbs::MessageHeader::RecordBatch, header.Union(), body.size, std::move(body.pieces),
                            &block));
    blocks_.push_back(block);
    return Status::ok();
  }

  Status check_column(const Field& field, const ColumnView& column, int64_t rows) const {
    const std::string name = "Column \"" + field.name + "\"";
    if (column.layout != field.layout ||
        (field.layout == Layout::kFixedBinary && column.byte_width != field.byte_width) ||
        (field.layout == Layout::kTimestamp && column.unit != field.unit)) {
      return invalid(name + " has layout " + columnar::layout_name(column.layout) +
                     ", unit or width other than the schema's " + columnar::layout_name(field.layout));
    }
    if (rows < 0 || column.length != rows) {
      return invalid(name + " has " + std::to_string(column.length) + " rows in a batch of " + std::to_string(rows));
    }
    if (column.null_count < 0 || column.null_count > rows || (column.null_count > 0 && column.validity == nullptr)) {
      return invalid(name + " has nulls without a validity bitmap, or more nulls than rows");
    }
    if (columnar::has_offsets(field.layout) && rows > 0) {
      const bool large = field.layout == Layout::kLargeUtf8;
      const auto offset = [&](int64_t row) -> int64_t {
        return large ? static_cast<const int64_t*>(column.values)[row]
                     : static_cast<const int32_t*>(column.values)[row];
      };
      if (offset(0) < 0 || offset(rows) < offset(0) || offset(rows) > column.data_size) {
        return invalid(name + " has text offsets outside of its text");
      }
    }
    return Status::ok();
  }

  static void add_column(const ColumnView& column, BatchBody& body) {
    const int64_t bitmap = (column.length + 7) / 8;
    body.nodes.emplace_back(column.length, column.null_count);
    body.add(column.validity, column.null_count > 0 ? bitmap : 0);
    const int64_t width = columnar::value_width(column.layout, column.byte_width);
    if (column.layout == Layout::kBool) {
      body.add(column.values, bitmap);
    } else if (!columnar::has_offsets(column.layout)) {
      body.add(column.values, column.length * width);
    } else if (column.length == 0) {  // one offset, as for any other number of rows
      body.add(kZeros, width);
      body.add(nullptr, 0);
    } else {
      body.add(column.values, (column.length + 1) * width);
      body.add(column.data, column.data_size);
    }
  }

  /// `header` is finished into a Message in `builder` and written with `body`; `block` receives where.
  Status write_message(flatbuffers::FlatBufferBuilder& builder, fbs::MessageHeader kind,
                       flatbuffers::Offset<void> header, int64_t body_size, std::vector<struct iovec> body,
                       fbs::Block* block) {
    builder.Finish(fbs::CreateMessage(builder, fbs::MetadataVersion::V5, kind, header, body_size));
    const int64_t start = file_->position();
    constexpr int64_t kPrefixBytes = 8;
    const auto metadata_size = static_cast<int64_t>(builder.GetSize());
    const int64_t pad = padding(start + kPrefixBytes + metadata_size);
    const uint32_t prefix[2] = {kContinuation, static_cast<uint32_t>(metadata_size + pad)};
    std::vector<struct iovec> pieces = {{const_cast<uint32_t*>(prefix), sizeof(prefix)},
                                        {builder.GetBufferPointer(), static_cast<size_t>(metadata_size)},
                                        {const_cast<char*>(kZeros), static_cast<size_t>(pad)}};
    pieces.insert(pieces.end(), body.begin(), body.end());
    STROM_TRY(file_->append(std::move(pieces)));
    if (block != nullptr)
      *block = fbs::Block(start, static_cast<int32_t>(kPrefixBytes + metadata_size + pad), body_size);
    return Status::ok();
  }

  Status write_footer() {
    flatbuffers::FlatBufferBuilder builder;
    const auto schema = encode_schema(builder, schema_);
    const auto dictionaries = builder.CreateVectorOfStructs(std::vector<fbs::Block>{});
    const auto batches = builder.CreateVectorOfStructs(blocks_);
    builder.Finish(fbs::CreateFooter(builder, fbs::MetadataVersion::V5, schema, dictionaries, batches));
    const uint32_t end_of_stream[2] = {kContinuation, 0};
    const auto footer_size = static_cast<int32_t>(builder.GetSize());
    return file_->append({{const_cast<uint32_t*>(end_of_stream), sizeof(end_of_stream)},
                          {builder.GetBufferPointer(), builder.GetSize()},
                          {const_cast<int32_t*>(&footer_size), sizeof(footer_size)},
                          {const_cast<char*>(kMagic), kMagicBytes}});
  }

  std::unique_ptr<StagedFile> file_;
  columnar::Schema schema_;
  std::vector<fbs::Block> blocks_;
  Status failure_;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path, columnar::Schema schema,
                                                       bool overwrite) {
  try {
    STROM_TRY(check_writable(schema));
    STROM_ASSIGN(auto file, StagedFile::create(path, overwrite));
    auto writer = std::make_unique<Writer>(std::move(file), std::move(schema));
    STROM_TRY(writer->write_start());
    return std::unique_ptr<FileWriter>(std::move(writer));
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while creating file \"" + path + "\"");
  }
}

}  // namespace strom::format::arrow
