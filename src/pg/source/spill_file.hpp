// Record batches in a temporary file of PostgreSQL (temp_tablespaces, temp_file_limit). The file is written once and
// then mapped, so that the kernel can reclaim its memory. Used by CollectedRows. C++ code: throws PostgresError and
// StatusError.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/mapped_file.hpp"
#include "columnar/batch.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::source {

class SpillFile {
 public:
  /// Appends a batch. The first call creates the file. The current resource owner owns the file until map().
  void write(std::span<const columnar::ColumnView> batch);
  /// Ends writing: maps the file and unlinks it.
  void map();

  size_t batch_count() const { return batches_.size(); }
  /// The columns of batch `index`. Called after map().
  std::vector<columnar::ColumnView> columns(size_t index) const;

 private:
  /// A column whose buffers are offsets into the file; -1: no such buffer.
  struct SpilledColumn {
    columnar::ColumnView view;
    int64_t validity, values, data;
  };

  int64_t write_buffer(const void* bytes, int64_t size);

  File file_ = -1;
  int64_t size_ = 0;
  std::vector<std::vector<SpilledColumn>> batches_;
  std::shared_ptr<const base::MappedFile> mapped_;
};

}  // namespace strom::pg::source
