// Rows of Arrow files as text, made by several threads and written in order.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "arrow_files/columns.hpp"
#include "base/status.hpp"
#include "cli/progress.hpp"
#include "format/byte_sink.hpp"
#include "format/csv/row_text.hpp"

namespace strom::tool {

struct ExportOptions {
  format::csv::TextOptions text;
  std::vector<std::string> columns;  // empty: all
  bool header = false;
  bool is_script = false;  // values as the types in fields() read them: see with_binary_types()
  int64_t offset = 0, limit = std::numeric_limits<int64_t>::max();  // in rows of all files together
  int threads = 1;
};

/// What will be written is known and checked; nothing is written yet.
class Export {
 public:
  /// Files must have the same columns, by name. Errors: kInvalidParameter, kTypeMismatch, kUnsupported, kCorruptFile.
  static Result<Export> plan(std::vector<ArrowFile> files, const ExportOptions& options);

  /// The columns that will be written, as the first file has them.
  const std::vector<columnar::Field>& fields() const { return files_.front().fields; }
  Status write(format::ByteSink& sink, Progress& progress) const;

 private:
  struct File {
    ArrowFile reader;
    std::vector<int> columns;
    std::vector<columnar::Field> fields;
    std::shared_ptr<const format::csv::RowText> text;
  };
  /// Columns of one record batch, from when its first piece is begun until its last is done.
  struct Batch {
    int file, number;
    int64_t rows;
    int pieces = 0;  // that are not done
    std::mutex mutex;
    std::vector<FileColumn> columns;
  };
  struct Piece {
    Batch* batch;
    int64_t begin, end;  // rows of the batch
  };

  explicit Export(const ExportOptions& options) : options_(options) {}
  Status add_file(ArrowFile reader);
  Status make_texts();
  Status check_same_columns(const File& file) const;
  Status cut_pieces();
  Result<int64_t> rows_per_piece(const File& file, int batch, int64_t rows) const;
  /// The views are good as long as the piece is not done.
  Result<columnar::BatchView> load(Batch& batch) const;
  static void finish(Batch& batch);
  Status make_text(const Piece& piece, format::csv::TextBuffer& out) const;

  ExportOptions options_;
  std::vector<File> files_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<Piece> pieces_;
};

}  // namespace strom::tool
