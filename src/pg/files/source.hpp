// An Arrow foreign table opened for reading: its files, its record batches as numbered chunks, and for each column
// that a query refers to where it lies in each file. Used by the foreign scan here, by the planner for estimates and
// for what the engine may read, and by the executor nodes, whose engine threads call the functions marked so.
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

/// A column of the table and the fields that it reads.
struct SourceColumn {
  AttrNumber attnum = 0;
  std::string name;
  codec::SqlType type;      // as declared
  std::vector<int> fields;  // for each file: index into its schema, or -1: `constants` has its values
  /// For each file where it is needed: indexes into `values`, one for all record batches or one for each.
  std::vector<std::vector<int>> constants;
  std::shared_ptr<ConstantColumn> values;  // nullptr: all files have the field
  /// All files hold the column in the same layout (unit, scale and width included), and the engine may load it as
  /// values of the declared type. Vacuously true for a table without files.
  bool engine_readable = true;
  /// For each file how the field holds geometries. Empty: the column is of another type.
  std::vector<format::geoarrow::GeometryField> geometries;
  std::vector<int> boxes;  // of geometries, for each file: the field whose bounds tell of them, or -1
};

/// Columns of compressed record batches that somebody keeps. Thread-safe, calls no PostgreSQL.
class ColumnStore {
 public:
  virtual ~ColumnStore() = default;
  /// Column `column` of a chunk; false when it is not kept.
  virtual bool find(int64_t chunk, size_t column, columnar::ColumnView* view) const = 0;
  /// What was not found has been decompressed.
  virtual void offer(int64_t chunk, size_t column, const columnar::ColumnView& view) const = 0;
};

/// For each column of a chunk what was loaded before the others; nullopt: nothing.
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

  /// Some record batch is compressed: views of it are valid as long as the BatchView that has them.
  bool is_compressed() const { return is_compressed_; }
  /// What views point to lives as long as this object, where it is not compressed.
  bool holds_files() const { return holds_files_; }
  /// Values of some column are made for engine_batch(), and live as long as its result.
  bool makes_values() const;

  /// The reader of column `column` of a chunk, whose batch() is given; `place` outlives its use, as does
  /// the current memory context. May throw.
  codec::Decoder decoder(int64_t chunk, int column, const columnar::BatchView& batch, codec::RowSite* place) const;

  /// Views of all columns() of a chunk, in order: those that `loaded` has by load_column(), else from `store` or
  /// decompressed by the calling thread; valid as long as this object, the store and the result. Thread-safe, calls no
  /// PostgreSQL. Errors: kCorruptFile, kOutOfMemory.
  Result<columnar::BatchView> batch(int64_t chunk, const ColumnStore* store = nullptr,
                                    LoadedColumns* loaded = nullptr) const;
  /// The same as the engine loads them: geometries in PostGIS's form, in memory of the result. Errors as above.
  Result<columnar::BatchView> engine_batch(int64_t chunk, const ColumnStore* store, LoadedColumns* loaded) const;
  /// The column of a compressed chunk, likewise, where it is one of the file.
  std::optional<Result<format::arrow::LoadedColumn>> load_column(int64_t chunk, size_t column,
                                                                 const ColumnStore* store) const;
  /// True when columns of the chunk have to be decompressed.
  bool is_compressed(int64_t chunk) const;

  /// Where `columns` of `chunks`, which ascend, come from. A file that may have changed has no name.
  columnar::RowsOrigin origin(std::span<const int64_t> chunks, const std::vector<uint32_t>& columns) const;

  /// kFileChanged when bytes of a file that this object handed out may not be those of the file that was opened.
  /// Thread-safe, calls no PostgreSQL. To be asked after the last use of a batch and before its rows count as right.
  Status unchanged(int file) const;
  Status all_unchanged() const;

  /// Bytes of the buffers of column `column` in file `file`. Errors: kCorruptFile.
  Result<int64_t> column_bytes(int file, int column) const;

  /// What statistics say of column `column` in chunk `chunk`, see FileReader::bounds(). Thread-safe, calls no
  /// PostgreSQL.
  Result<std::optional<columnar::Bounds>> bounds(int64_t chunk, int column) const override;
  Result<int64_t> null_count(int64_t chunk, int column) const override;
  /// Some file has statistics of the column.
  Result<bool> has_bounds(int column) const override;
  size_t column_count() const override { return columns_.size(); }
  codec::SqlType type_of(int column) const override { return columns_[static_cast<size_t>(column)].type; }
  int64_t rows_of(int64_t chunk) const override { return chunks_[static_cast<size_t>(chunk)].rows; }
  const columnar::Field& field_of(int64_t chunk, int column) const override {
    return field(chunks_[static_cast<size_t>(chunk)].file, column);
  }

  /// Tells two states of the table's files apart; parallel workers compare theirs with the leader's.
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
  /// The field whose bounds hold for a column that is one of the file; -1: none.
  static int bounds_field(const SourceColumn& column, int file);
  class Origin;

  Oid relid_ = InvalidOid;
  std::string table_name_;
  std::vector<std::shared_ptr<const format::arrow::FileReader>> files_;
  std::vector<FileEntry> entries_;  // of files_
  std::vector<Chunk> chunks_;
  std::vector<SourceColumn> columns_;
  std::shared_ptr<const uint8_t> zeros_;  // for the longest chunk's constants
  int64_t total_rows_ = 0, file_bytes_ = 0;
  int parallel_workers_ = -1;
  std::vector<bool> is_settled_;  // for each file: as of when it was opened, see base::is_settled()
  bool is_compressed_ = false, holds_files_ = true;
  std::shared_ptr<format::arrow::BufferPool> pool_ = format::arrow::make_buffer_pool();
};

}  // namespace strom::pg::files
