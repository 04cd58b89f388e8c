// An Arrow foreign table that is opened for reading: its files, its record batches as numbered chunks, and the field of
// each referenced column in each file. Used by the foreign scan, by the planner (for estimates and for what the engine
// may read), and by the executor nodes. Their engine threads call the functions marked as thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/read/reader.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/decode.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/files/constant_column.hpp"
#include "pg/files/options.hpp"
#include "pg/pruning/chunk_statistics.hpp"

namespace strom::pg::files {

struct TableOptions;

/// One record batch with at least one row.
struct Chunk {
  int32_t file = 0;   // index into files()
  int32_t batch = 0;  // in the file
  int64_t rows = 0;
};

/// A column of the table and the fields that store it.
struct SourceColumn {
  AttrNumber attnum = 0;
  std::string name;
  codec::SqlType type;      // as declared
  std::vector<int> fields;  // for each file an index into its schema; -1: see `constants`
  /// For each file without the field: indexes into `values`. One index for all record batches, or one for each.
  std::vector<std::vector<int>> constants;
  std::shared_ptr<ConstantColumn> values;  // nullptr: all files have the field
  /// All files hold the column in the same layout (unit, scale and width included), and the engine may load it as
  /// values of the declared type. Vacuously true for a table without files.
  bool engine_readable = true;
  /// For each file how the field encodes geometries. Empty: the column has another type.
  std::vector<format::geoarrow::GeometryField> geometries;
  std::vector<int> boxes;  // for each file: the field with the geometries' bounds, or -1
};

/// A cache for columns of compressed record batches. Thread-safe, calls no PostgreSQL.
class ColumnStore {
 public:
  virtual ~ColumnStore() = default;
  /// Column `column` of a chunk; false when it is not cached.
  virtual bool find(int64_t chunk, size_t column, columnar::ColumnView* view) const = 0;
  /// Offers a column for caching that find() did not have and that has been decompressed since.
  virtual void offer(int64_t chunk, size_t column, const columnar::ColumnView& view) const = 0;
};

/// For each column of a chunk the result of load_column(); nullopt: it was not loaded in advance.
using LoadedColumns = std::vector<std::optional<Result<format::arrow::LoadedColumn>>>;

class Source : public pruning::ChunkStatistics {
 public:
  /// Opens the files of foreign table `relid`, on which the caller holds a lock, and finds columns `attnums`
  /// (positive, not dropped) in each. Main thread only. Throws StatusError: kFileNotFound, kPermissionDenied, kIoError,
  /// kCorruptFile, kUnsupported (a column's field cannot be read), kTypeMismatch (a file lacks a column or has it in
  /// another type); and PostgresError.
  static std::shared_ptr<const Source> open(Oid relid, std::span<const AttrNumber> attnums);

  Oid relid() const { return relid_; }
  const std::string& table_name() const { return table_name_; }
  const std::vector<std::shared_ptr<const format::arrow::FileReader>>& files() const { return files_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  const std::vector<SourceColumn>& columns() const { return columns_; }  // in the order of `attnums`
  /// Index in columns() of the column with this attribute number, or -1.
  int column_of(AttrNumber attnum) const;
  const columnar::Field& field(int file, int column) const;
  int64_t total_rows() const { return total_rows_; }
  int64_t file_bytes() const { return file_bytes_; }
  /// Table option parallel_workers, or -1.
  int parallel_workers() const { return parallel_workers_; }

  /// True if any record batch is compressed. Views of it are valid as long as the BatchView that has them.
  bool is_compressed() const { return is_compressed_; }
  /// True if views of uncompressed record batches are valid as long as this object.
  bool holds_files() const { return holds_files_; }
  /// True if engine_batch() converts values of some column. They live as long as its result.
  bool makes_values() const;

  /// The reader of column `column` of a chunk; `batch` is batch() of that chunk. `place` and the current memory context
  /// outlive the decoder's use. May throw.
  codec::Decoder decoder(int64_t chunk, int column, const columnar::BatchView& batch, codec::RowSite* place) const;

  /// Views of all columns() of a chunk, in order. A column comes from `loaded` if it is there, else from `store`, else
  /// it is decompressed by the calling thread. Views are valid as long as this object, the store and the result.
  /// Thread-safe, calls no PostgreSQL. Errors: kCorruptFile, kOutOfMemory.
  Result<columnar::BatchView> batch(int64_t chunk, const ColumnStore* store = nullptr,
                                    LoadedColumns* loaded = nullptr) const;
  /// Like batch(), in the form that the engine loads: geometries are converted to PostGIS's form, in memory of the
  /// result.
  Result<columnar::BatchView> engine_batch(int64_t chunk, const ColumnStore* store, LoadedColumns* loaded) const;
  /// Loads one column of a compressed chunk in advance; nullopt if the file does not have the column. Errors as above.
  std::optional<Result<format::arrow::LoadedColumn>> load_column(int64_t chunk, size_t column,
                                                                 const ColumnStore* store) const;
  /// True when columns of the chunk need decompression.
  bool is_compressed(int64_t chunk) const;

  /// Names the origin of `columns` of `chunks`, which are in ascending order. A file that may have changed gets no
  /// name.
  columnar::RowsOrigin origin(std::span<const int64_t> chunks, const std::vector<uint32_t>& columns) const;

  /// kFileChanged when the file may have changed since it was opened, so that bytes handed out by this object may be
  /// wrong. Call this after the last use of a batch and before its rows count as right. Thread-safe, calls no
  /// PostgreSQL.
  Status unchanged(int file) const;
  Status all_unchanged() const;

  /// Bytes of the buffers of column `column` in file `file`. Errors: kCorruptFile.
  Result<int64_t> column_bytes(int file, int column) const;

  /// The bounds of column `column` in chunk `chunk` by statistics, see FileReader::bounds(). Thread-safe, calls no
  /// PostgreSQL.
  Result<std::optional<columnar::Bounds>> bounds(int64_t chunk, int column) const override;
  Result<int64_t> null_count(int64_t chunk, int column) const override;
  /// True if any file has statistics of the column.
  Result<bool> has_bounds(int column) const override;
  size_t column_count() const override { return columns_.size(); }
  codec::SqlType type_of(int column) const override { return columns_[static_cast<size_t>(column)].type; }
  int64_t rows_of(int64_t chunk) const override { return chunks_[static_cast<size_t>(chunk)].rows; }
  const columnar::Field& field_of(int64_t chunk, int column) const override {
    return field(chunks_[static_cast<size_t>(chunk)].file, column);
  }

  /// Differs between two states of the table's files. Parallel workers compare theirs with the leader's.
  uint64_t fingerprint() const;

 private:
  Source() = default;
  Status open_files(std::vector<FileEntry> entries, const TableOptions& options);
  void bind_columns(const std::vector<catalog::ForeignColumn>& columns, const TableOptions& options);
  Status bind_field(const std::string& wanted, int index, int file, SourceColumn* bound) const;
  void bind_constant(const ColumnSource& from, const TableOptions& options, int file, SourceColumn* bound) const;
  ConstantColumn& constants_of(SourceColumn* column) const;
  void settle_values(const ColumnSource& from, SourceColumn* column) const;
  Status make_zeros();
  int constant(const Chunk& chunk, const SourceColumn& column) const;
  /// The field whose bounds hold for the column; -1 when the file has no such field.
  static int bounds_field(const SourceColumn& column, int file);
  class Origin;

  Oid relid_ = InvalidOid;
  std::string table_name_;
  std::vector<std::shared_ptr<const format::arrow::FileReader>> files_;
  std::vector<FileEntry> entries_;  // one for each of files_
  std::vector<Chunk> chunks_;
  std::vector<SourceColumn> columns_;
  std::shared_ptr<const uint8_t> zeros_;  // for the longest chunk's constants
  int64_t total_rows_ = 0, file_bytes_ = 0;
  int parallel_workers_ = -1;
  std::vector<bool> is_settled_;  // for each file, when it was opened; see base::is_settled()
  bool is_compressed_ = false, holds_files_ = true;
  std::shared_ptr<format::arrow::BufferPool> pool_ = format::arrow::make_buffer_pool();
};

}  // namespace strom::pg::files
