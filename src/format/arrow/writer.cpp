// See writer.hpp.
#include "format/arrow/writer.hpp"

#include <new>
#include <utility>

#include "columnar/layout.hpp"
#include "format/arrow/message_writer.hpp"
#include "format/arrow/schema_encode.hpp"
#include "format/staged_file.hpp"

namespace strom::format::arrow {

namespace {

using columnar::BatchView;
using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;

class Writer final : public FileWriter {
 public:
  Writer(std::unique_ptr<StagedFile> file, columnar::Schema schema)
      : messages_(std::move(file), false), schema_(std::move(schema)) {}

  Status write_start() { return messages_.start(schema_encoder()); }

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
    return keep_failure(within_memory([&] { return messages_.finish(schema_encoder()); }));
  }

 private:
  const std::string& path() const { return messages_.sink().path(); }

  MessageWriter::SchemaEncoder schema_encoder() const {
    return [this](flatbuffers::FlatBufferBuilder& builder) { return encode_schema(builder, schema_); };
  }

  template <class F>
  Status within_memory(F f) const {
    if (!failure_.is_ok()) return failure_;
    try {
      return f();
    } catch (const std::bad_alloc&) {
      return Status(ErrorCode::kOutOfMemory, "out of memory while writing file \"" + path() + "\"");
    }
  }

  /// After a failure, part of a message may be in the file: nothing more can be written, and finish() must not succeed.
  Status keep_failure(Status status) {
    if (!status.is_ok()) failure_ = status;
    return status;
  }

  Status invalid(const std::string& what) const {
    return Status(ErrorCode::kInvalidParameter, "could not write a record batch to file \"" + path() + "\"")
        .with_detail(what + ".");
  }

  Status write_batch(const BatchView& batch) {
    if (batch.columns.size() != schema_.fields.size()) {
      return invalid("It has " + std::to_string(batch.columns.size()) + " columns where the file has " +
                     std::to_string(schema_.fields.size()));
    }
    BatchBody body(batch.rows);
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      STROM_TRY(check_column(schema_.fields[i], batch.columns[i], batch.rows));
      STROM_TRY(add_column(batch.columns[i], body));
    }
    body.seal();
    return messages_.write_batch(body);
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

  static Status add_column(const ColumnView& column, BatchBody& body) {
    const auto add = [&body](const void* bytes, int64_t size) { return body.add_buffer(bytes, size, nullptr); };
    const int64_t bitmap = (column.length + 7) / 8;
    body.add_node(column.length, column.null_count);
    STROM_TRY(add(column.validity, column.null_count > 0 ? bitmap : 0));
    const int64_t width = columnar::value_width(column.layout, column.byte_width);
    if (column.layout == Layout::kBool) return add(column.values, bitmap);
    if (!columnar::has_offsets(column.layout)) return add(column.values, column.length * width);
    if (column.length == 0) {  // one offset, as for any other number of rows
      STROM_TRY(add(kPadding, width));
      return add(nullptr, 0);
    }
    STROM_TRY(add(column.values, (column.length + 1) * width));
    return add(column.data, column.data_size);
  }

  MessageWriter messages_;
  columnar::Schema schema_;
  Status failure_;
};

}  // namespace

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path, columnar::Schema schema, bool overwrite,
                                                       PageCache cache) {
  try {
    STROM_TRY(check_writable(schema));
    STROM_ASSIGN(auto file, StagedFile::create(path, overwrite, cache));
    auto writer = std::make_unique<Writer>(std::move(file), std::move(schema));
    STROM_TRY(writer->write_start());
    return std::unique_ptr<FileWriter>(std::move(writer));
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while creating file \"" + path + "\"");
  }
}

}  // namespace strom::format::arrow
