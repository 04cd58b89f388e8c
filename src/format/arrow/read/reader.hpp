// Reader of Apache Arrow IPC files and of files in the streaming format (metadata V4 and V5, little endian).
// The file is mapped read-only; columns are handed out as views into the mapping, or of what was decompressed, and only
// columns that are asked for are touched. Everything in the file is untrusted: flatbuffers go through the Verifier,
// buffers are checked against the file's size before a view is handed out. Offsets of text columns are checked by
// whoever loads them (engine/op/scan), because the bytes can change under a mapping. Format:
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

/// An open file. Immutable after open() and safe to share between threads. format/parquet has another kind, whose
/// record batches are row groups.
class FileReader {
 public:
  /// null_count() where nothing is known.
  static constexpr int64_t kUnknownNulls = -1;

  /// Opens, maps and checks footer, schema and the first record batch. Errors: kFileNotFound, kPermissionDenied,
  /// kIoError, kOutOfMemory, kOverBudget (too many mappings), kCorruptFile (message names the path, detail the offset),
  /// kUnsupported (big-endian file).
  static Result<std::shared_ptr<const FileReader>> open(const std::string& path);
  /// Same for a file's bytes in memory, which must be aligned to 8 bytes and outlive the reader. `name` stands for the
  /// path in messages.
  static Result<std::shared_ptr<const FileReader>> open_memory(const std::string& name, std::span<const uint8_t> bytes);

  /// A file with another footer than its own, for whoever is adding record batches to it (FileAppender).
  static Result<std::shared_ptr<const FileReader>> open_pending(const std::string& path, std::string footer);

  virtual ~FileReader() = default;
  virtual const std::string& path() const = 0;
  /// Of the file: "arrow" or "parquet".
  virtual const char* format() const { return "arrow"; }
  virtual const FileIdentity& identity() const = 0;
  virtual const columnar::Schema& schema() const = 0;
  virtual int batch_count() const = 0;
  /// Location and rows come from the batch's own metadata, verified on first use and kept. Errors of the functions
  /// below: kCorruptFile, kFileChanged, kUnsupported (names the feature), kOutOfMemory, kInternal (no such batch or
  /// field).
  virtual Result<BatchLocation> batch_location(int batch) const = 0;
  virtual Result<int64_t> batch_rows(int batch) const = 0;
  /// View of column `field` (index into schema().fields) of record batch `batch`; bounds already checked. Buffers are
  /// aligned to 8 bytes, 16-byte values to no more than that. The view is good for as long as the reader and the
  /// result's `memory` live. Of a compressed batch the column is decompressed by the calling thread, with memory of
  /// `pool` if it is not nullptr.
  virtual Result<LoadedColumn> column(int batch, int field, const std::shared_ptr<BufferPool>& pool) const = 0;
  Result<LoadedColumn> column(int batch, int field) const { return column(batch, field, nullptr); }
  /// Columns of this batch are in memory of their own.
  virtual Result<bool> is_compressed(int batch) const = 0;
  /// What the batch is compressed by, as "LZ4"; empty: nothing. For people.
  virtual Result<std::string> codec(int batch) const = 0;
  /// Bytes that column() decompresses at most, by what the batch says of itself; 0 when it is not compressed.
  virtual Result<int64_t> memory_bytes(int batch, int field) const = 0;
  /// Bytes of the column's buffers in the file, for statistics.
  virtual Result<int64_t> column_bytes(int batch, int field) const = 0;
  /// Rows of the column that are NULL, or kUnknownNulls.
  virtual Result<int64_t> null_count(int batch, int field) const = 0;
  /// What the file's statistics say of the column's values; nullopt when they say nothing that can be used. Of the
  /// columns that share a name only those with statistics in their own metadata have any.
  virtual Result<std::optional<columnar::Bounds>> bounds(int batch, int field) const = 0;
  /// False when the file is taken to have no bounds for this column: an Arrow file whose first record batch has none.
  virtual Result<bool> has_bounds(int field) const = 0;
  /// kFileChanged when the bytes under the mapping may not be those that open() saw: the file was shrunk (a page
  /// vanished under a reader) or written to, other than by FileAppender. A file that was replaced or unlinked goes on
  /// being readable.
  virtual Status check_unchanged() const = 0;
  /// The part of check_unchanged() that costs no system call, for use after each row: bytes that are gone were read.
  virtual bool is_poisoned() const = 0;
};

}  // namespace strom::format::arrow
