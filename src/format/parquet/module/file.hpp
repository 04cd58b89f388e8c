// An open Parquet file and the readers that decode its columns. Functions throw libparquet's exceptions; module.cpp
// keeps these from crossing the interface.
#pragma once

#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/metadata.h>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "format/parquet/module/limited_pool.hpp"
#include "format/parquet/module_abi.h"

namespace strom::parquet_module {

/// A failure of our own checks.
struct Failure : std::runtime_error {
  Failure(strom_parquet_code code, const std::string& message) : std::runtime_error(message), code(code) {}
  strom_parquet_code code;
};

class File {
 public:
  explicit File(const strom_parquet_source& source);

  int32_t row_group_count() const { return metadata_->num_row_groups(); }
  strom_parquet_row_group row_group(int32_t row_group) const;
  strom_parquet_column column(int32_t row_group, int32_t field) const;
  int64_t read_schema(const strom_parquet_target& target) const;
  int64_t read_column(int32_t row_group, int32_t field, const strom_parquet_target& target) const;

 private:
  /// libparquet's reader with its memory, used by one thread at a time.
  struct Reader {
    explicit Reader(int64_t limit) : pool(limit) {}
    LimitedPool pool;
    std::unique_ptr<::parquet::arrow::FileReader> reader;
  };
  class Borrowed;

  std::unique_ptr<Reader> make_reader(bool texts_as_dictionaries) const;
  void check_field(int32_t field) const;
  bool is_dictionary_encoded(int32_t row_group, int32_t field) const;

  const strom_parquet_source source_;
  mutable LimitedPool metadata_pool_;  // the metadata use it as long as they live
  std::shared_ptr<::parquet::FileMetaData> metadata_;
  std::shared_ptr<::arrow::Schema> schema_;
  std::vector<::parquet::arrow::SchemaField> manifest_;
  void read_box(const ::parquet::RowGroupMetaData& group, int32_t field, strom_parquet_column* result) const;

  std::vector<std::vector<int>> leaves_;  // for each field, its columns in the file
  std::vector<bool> is_flat_;             // for each field: it is one column itself
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Reader>> idle_[2];  // [texts as dictionaries]
};

}  // namespace strom::parquet_module
