// Reader of Apache Arrow IPC files and of files in the streaming format (metadata V4 and V5, little endian). The file
// is mapped read-only. Columns are returned as views into the mapping, or into decompressed memory, and only requested
// columns are touched. Everything in the file is untrusted: flatbuffers go through the Verifier, and buffers are
// checked against the file's size before a view is returned. Loaders of text columns (engine/op/scan) check the
// offsets, because the bytes can change under a mapping. Format:
// https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/mapped_file.hpp"
#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/bounds.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/batch/loaded_column.hpp"

namespace strom::format::arrow {

using base::FileIdentity;

/// An open file. Immutable after open() and safe to share between threads. format/parquet has another implementation,
/// whose record batches are row groups.
class FileReader {
 public:
  /// null_count() where the number is unknown.
  static constexpr int64_t kUnknownNulls = -1;

  /// Opens, maps and checks footer, schema and the first record batch. Errors: kFileNotFound, kPermissionDenied,
  /// kIoError, kOutOfMemory, kOverBudget (too many mappings), kCorruptFile (message names the path, detail the offset),
  /// kUnsupported (big-endian file).
  static Result<std::shared_ptr<const FileReader>> open(const std::string& path);
  /// The same for a file's bytes in memory, which must be aligned to 8 bytes and outlive the reader. `name` replaces
  /// the path in messages.
  static Result<std::shared_ptr<const FileReader>> open_memory(const std::string& name, std::span<const uint8_t> bytes);

  /// Opens a file with another footer than its own, for FileAppender while it adds record batches.
  static Result<std::shared_ptr<const FileReader>> open_pending(const std::string& path, std::string footer);

  virtual ~FileReader() = default;
  virtual const std::string& path() const = 0;
  /// Format of the file: "arrow" or "parquet".
  virtual const char* format() const { return "arrow"; }
  virtual const FileIdentity& identity() const = 0;
  virtual const columnar::Schema& schema() const = 0;
  virtual int batch_count() const = 0;
  /// Location and rows come from the batch's own metadata, which are verified on first use and kept. Errors of the
  /// functions below: kCorruptFile, kFileChanged, kUnsupported (names the feature), kOutOfMemory, kInternal (no such
  /// batch or field).
  virtual Result<BatchLocation> batch_location(int batch) const = 0;
  virtual Result<int64_t> batch_rows(int batch) const = 0;
  /// View of column `field` (index into schema().fields) of record batch `batch`; its buffers are already checked.
  /// Buffers are aligned to 8 bytes, 16-byte values also only to 8. The view is valid as long as the reader and the
  /// result's `memory` live. A column of a compressed batch is decompressed by the calling thread, with memory of
  /// `pool` if it is not nullptr.
  virtual Result<LoadedColumn> column(int batch, int field, const std::shared_ptr<BufferPool>& pool) const = 0;
  Result<LoadedColumn> column(int batch, int field) const { return column(batch, field, nullptr); }
  /// True when columns of this batch are in memory of their own.
  virtual Result<bool> is_compressed(int batch) const = 0;
  /// The batch's compression, e.g. "LZ4"; empty: none. For people.
  virtual Result<std::string> codec(int batch) const = 0;
  /// The most bytes that column() decompresses, by the batch's own declaration; 0 when it is not compressed.
  virtual Result<int64_t> memory_bytes(int batch, int field) const = 0;
  /// Bytes of the column's buffers in the file, for statistics.
  virtual Result<int64_t> column_bytes(int batch, int field) const = 0;
  /// Rows of the column that are NULL, or kUnknownNulls.
  virtual Result<int64_t> null_count(int batch, int field) const = 0;
  /// The bounds of the column's values in the file's statistics; nullopt when there are no usable ones. Of columns that
  /// share a name, only those with statistics in their own metadata have bounds.
  virtual Result<std::optional<columnar::Bounds>> bounds(int batch, int field) const = 0;
  /// False when the column is assumed to have no bounds: in an Arrow file whose first record batch has none.
  virtual Result<bool> has_bounds(int field) const = 0;
  /// kFileChanged when the bytes under the mapping may not be those that open() saw: the file was shrunk (a page
  /// vanished under a reader) or written to, other than by FileAppender. A file that was replaced or unlinked stays
  /// readable.
  virtual Status check_unchanged() const = 0;
  /// The part of check_unchanged() without a system call, for use after each row. True: vanished bytes were read.
  virtual bool is_poisoned() const = 0;
};

}  // namespace strom::format::arrow
