// Record batches in a temporary file of PostgreSQL's (temp_tablespaces, temp_file_limit), written once and then mapped,
// so that the kernel may take their memory back. Used by CollectedRows. C++ code: throws PostgresError and StatusError.
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
  /// The file is created by the first write() and is a resource of the current owner until map().
  void write(std::span<const columnar::ColumnView> batch);
  /// Ends writing: the file is mapped and removed.
  void map();

  size_t batch_count() const { return batches_.size(); }
  /// Columns of batch `index`; after map().
  std::vector<columnar::ColumnView> columns(size_t index) const;

 private:
  /// A column with offsets into the file; -1 = no such buffer.
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
