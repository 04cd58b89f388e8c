// The writer of Arrow files and streams with columns of any type (metadata V5): for the tools, exports and the
// benchmark's generator. The threads that build batches compress them. The writer writes dictionaries and statistics in
// the footer, and continues existing files. FileAppender, which adds to files in place, shares the messages and
// batches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/builder.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/batch/compression.hpp"
#include "format/arrow/write/existing_file.hpp"
#include "format/byte_sink.hpp"
#include "format/staged_file.hpp"

namespace strom::format::arrow {

class BatchBody;

/// A record batch ready to be written. Unless it is compressed, its columns must not change until it is written.
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

/// `columns` all have `rows` rows. `compressor` belongs to the calling thread.
Result<EncodedBatch> encode_batch(const std::vector<columnar::ColumnBuilder>& columns, int64_t rows,
                                  Compressor& compressor);

/// The location of a record batch, as the tools print it.
struct BatchPlace {
  int64_t index = 0, offset = 0, meta_size = 0, body_size = 0;
};

/// Thread-compatible: callers that encode batches in parallel write them one at a time. If it is destroyed before
/// finish(), it leaves no file.
class FileWriter {
 public:
  /// `stream`: the stream format. Errors: those of the sink; kInvalidParameter and kUnsupported for a schema that
  /// cannot be written.
  static Result<std::unique_ptr<FileWriter>> create(std::unique_ptr<ByteSink> sink, columnar::Schema schema,
                                                    bool stream);
  /// Writes a file under a temporary name beside `path`, and renames it in finish(). So `path` is absent, has its old
  /// content, or is complete. `overwrite` false: an existing `path` is kFileExists.
  static Result<std::unique_ptr<FileWriter>> create(const std::string& path, columnar::Schema schema, bool overwrite,
                                                    PageCache cache = PageCache::kKeep);
  /// Continues after the messages of `existing`, which were copied to `sink`. `schema` is that of the whole file.
  static Result<std::unique_ptr<FileWriter>> resume(std::unique_ptr<ByteSink> sink, const ExistingFile& existing,
                                                    columnar::Schema schema);

  virtual ~FileWriter() = default;
  /// Called before the first batch that needs the dictionary or, in files, at any time. `values` is a column of the
  /// dictionary's type.
  virtual Status write_dictionary(int64_t id, const columnar::ColumnBuilder& values, bool is_delta) = 0;
  virtual Result<BatchPlace> write(const EncodedBatch& batch) = 0;
  /// Columns in schema order, each of `batch.rows` rows, uncompressed. kInvalidParameter when they do not fit the
  /// schema.
  virtual Status write(const columnar::BatchView& batch) = 0;
  /// The schema for the footer; metadata may be changed until finish().
  virtual columnar::Schema& schema() = 0;
  /// Sets a note of the footer (footer_note.hpp).
  virtual void set_note(std::string key, std::string text) = 0;
  virtual int64_t batch_count() const = 0;
  virtual int64_t position() const = 0;
  /// Writes the footer. The file is on the disk afterwards.
  virtual Status finish() = 0;
};

}  // namespace strom::format::arrow
