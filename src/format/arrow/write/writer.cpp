// See writer.hpp.
#include "format/arrow/write/writer.hpp"

#include <new>
#include <utility>

#include "columnar/layout.hpp"
#include "format/arrow/batch/batch_encode.hpp"
#include "format/arrow/write/existing_content.hpp"
#include "format/arrow/batch/message_writer.hpp"
#include "format/arrow/metadata/schema_encode.hpp"

namespace strom::format::arrow {

namespace {

using columnar::BatchView;
using columnar::ColumnBuilder;
using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;
using columnar::Schema;

class Writer final : public FileWriter {
 public:
  Writer(std::unique_ptr<ByteSink> sink, Schema schema, bool stream)
      : messages_(std::move(sink), stream), schema_(std::move(schema)) {}

  MessageWriter& messages() { return messages_; }
  MessageWriter::SchemaEncoder encoder() const {
    return [this](flatbuffers::FlatBufferBuilder& builder) { return encode_schema(builder, schema_); };
  }

  Status write_dictionary(int64_t id, const ColumnBuilder& values, bool is_delta) override {
    return guarded([&] {
      BatchBody body(values.length());
      STROM_TRY(add_column(values.view(), body, nullptr));
      body.seal();
      return messages_.write_dictionary(id, body, is_delta);
    });
  }

  Result<BatchPlace> write(const EncodedBatch& batch) override {
    STROM_TRY(guarded([&] { return messages_.write_batch(batch.body()); }));
    const fbs::Block& block = messages_.last_batch();
    return BatchPlace{messages_.batch_count() - 1, block.offset(), block.metadata_length(), block.body_length()};
  }

  Status write(const BatchView& batch) override {
    return guarded([&] { return write_view(batch); });
  }

  Schema& schema() override { return schema_; }
  void set_note(std::string key, std::string text) override {
    notes_.emplace_back(std::move(key), std::move(text));
    messages_.set_metadata(notes_);
  }
  int64_t batch_count() const override { return messages_.batch_count(); }
  int64_t position() const override { return messages_.sink().position(); }

  Status finish() override {
    return guarded([&] { return messages_.finish(encoder()); });
  }

 private:
  /// After a failure, a message may be partly written: nothing can follow, and finish() must not succeed.
  template <class F>
  Status guarded(F f) {
    if (!failure_.is_ok()) return failure_;
    try {
      failure_ = f();
    } catch (const std::bad_alloc&) {
      failure_ =
          Status(ErrorCode::kOutOfMemory, "out of memory while writing file \"" + messages_.sink().path() + "\"");
    }
    return failure_;
  }

  Status invalid(const std::string& what) const {
    return Status(ErrorCode::kInvalidParameter,
                  "could not write a record batch to file \"" + messages_.sink().path() + "\"")
        .with_detail(what + ".");
  }

  Status write_view(const BatchView& batch) {
    if (batch.columns.size() != schema_.fields.size()) {
      return invalid("It has " + std::to_string(batch.columns.size()) + " columns where the file has " +
                     std::to_string(schema_.fields.size()));
    }
    BatchBody body(batch.rows);
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      STROM_TRY(check_column(schema_.fields[i], batch.columns[i], batch.rows));
      STROM_TRY(add_column(batch.columns[i], body, nullptr));
    }
    body.seal();
    return messages_.write_batch(body);
  }

  Status check_column(const Field& field, const ColumnView& column, int64_t rows) const {
    const std::string name = "Column \"" + field.name + "\"";
    if (column.layout != (field.dictionary ? Layout::kDictionary : field.layout) ||
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
    if (columnar::has_offsets(column.layout) && rows > 0) {
      const bool large = columnar::value_width(field.layout, 0) == sizeof(int64_t);
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

  MessageWriter messages_;
  Schema schema_;
  columnar::KeyValues notes_;
  Status failure_;
};

}  // namespace

EncodedBatch::EncodedBatch(std::unique_ptr<BatchBody> body) : body_(std::move(body)) {}
EncodedBatch::EncodedBatch(EncodedBatch&&) noexcept = default;
EncodedBatch& EncodedBatch::operator=(EncodedBatch&&) noexcept = default;
EncodedBatch::~EncodedBatch() = default;
int64_t EncodedBatch::bytes() const { return body_->size(); }

Result<EncodedBatch> encode_batch(const std::vector<ColumnBuilder>& columns, int64_t rows, Compressor& compressor) {
  auto body = std::make_unique<BatchBody>(rows);
  for (const ColumnBuilder& column : columns) STROM_TRY(add_column(column.view(), *body, &compressor));
  body->seal();
  return EncodedBatch(std::move(body));
}

Result<std::unique_ptr<FileWriter>> FileWriter::create(std::unique_ptr<ByteSink> sink, Schema schema, bool stream) {
  STROM_TRY(check_writable(schema));
  auto writer = std::make_unique<Writer>(std::move(sink), std::move(schema), stream);
  STROM_TRY(writer->messages().start(writer->encoder()));
  return std::unique_ptr<FileWriter>(std::move(writer));
}

Result<std::unique_ptr<FileWriter>> FileWriter::resume(std::unique_ptr<ByteSink> sink, const ExistingFile& existing,
                                                       Schema schema) {
  STROM_TRY(check_writable(schema));
  auto writer = std::make_unique<Writer>(std::move(sink), std::move(schema), false);
  writer->messages().resume(existing.content->dictionaries, existing.content->batches);
  return std::unique_ptr<FileWriter>(std::move(writer));
}

Result<std::unique_ptr<FileWriter>> FileWriter::create(const std::string& path, Schema schema, bool overwrite,
                                                       PageCache cache) {
  try {
    STROM_TRY(check_writable(schema));
    STROM_ASSIGN(auto file, StagedFile::create(path, overwrite, cache));
    return create(std::move(file), std::move(schema), false);
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while creating file \"" + path + "\"");
  }
}

}  // namespace strom::format::arrow
