// Writer of Arrow files and streams with columns of any type, for the tools: compression by the threads that build
// batches, dictionaries, statistics in the footer, and going on with an existing file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/nested.hpp"
#include "columnar/nested_builder.hpp"
#include "format/arrow/compression.hpp"
#include "format/byte_sink.hpp"
#include "format/staged_file.hpp"

namespace strom::format::arrow {

class BatchBody;

/// A record batch ready to be written. The columns that it was made of must stay as they are until then, unless it is
/// compressed.
class EncodedBatch {
 public:
  explicit EncodedBatch(std::unique_ptr<BatchBody> body);
  EncodedBatch(EncodedBatch&&) noexcept;
  EncodedBatch& operator=(EncodedBatch&&) noexcept;
  ~EncodedBatch();
  const BatchBody& body() const { return *body_; }
  int64_t bytes() const;

 private:
  std::unique_ptr<BatchBody> body_;
};

/// `columns` all have `rows` rows. `compressor` is one of the calling thread.
Result<EncodedBatch> encode_batch(const std::vector<columnar::NestedBuilder>& columns, int64_t rows,
                                  Compressor& compressor);

/// Where a record batch went, as the tools print it.
struct BatchPlace {
  int64_t index = 0, offset = 0, meta_size = 0, body_size = 0;
};

/// A file that is to be gone on with.
struct ExistingFile {
  columnar::NestedSchema schema;
  int64_t batches = 0;

  /// Errors: those of opening a file; kCorruptFile; kUnsupported for files that cannot be gone on with.
  static Result<std::shared_ptr<const ExistingFile>> open(const std::string& path);
  /// Values of a dictionary of text. kUnsupported when they are compressed or not text; kCorruptFile.
  Result<std::vector<std::string>> dictionary(int64_t id) const;
  /// Of all record batches. kCorruptFile.
  Result<int64_t> count_rows() const;
  /// Copies all messages to the beginning of `file`. Errors: those of reading and writing; kFileChanged when the file
  /// is not what open() saw.
  Status copy_messages(StagedFile& file) const;

  struct Content;
  std::shared_ptr<const Content> content;
};

/// Thread-compatible: callers that encode batches in parallel write them one at a time.
class NestedWriter {
 public:
  /// `stream`: the stream format. Errors: those of the sink; kInvalidParameter for a schema that cannot be written.
  static Result<std::unique_ptr<NestedWriter>> create(std::unique_ptr<ByteSink> sink, columnar::NestedSchema schema,
                                                      bool stream);
  /// Goes on behind the messages of `existing`, which were copied to `sink`. `schema` is that of the whole file.
  static Result<std::unique_ptr<NestedWriter>> resume(std::unique_ptr<ByteSink> sink, const ExistingFile& existing,
                                                      columnar::NestedSchema schema);

  virtual ~NestedWriter() = default;
  /// Before the first batch that needs it. `values` is a column of the dictionary's type.
  virtual Status write_dictionary(int64_t id, const columnar::NestedBuilder& values, bool is_delta) = 0;
  virtual Result<BatchPlace> write(const EncodedBatch& batch) = 0;
  /// As it will stand in the footer; metadata may be changed until finish().
  virtual columnar::NestedSchema& schema() = 0;
  virtual int64_t batch_count() const = 0;
  virtual int64_t position() const = 0;
  virtual Status finish() = 0;
};

}  // namespace strom::format::arrow
