// Sample data for tests of the Arrow reader and writer: a column of every layout that can be written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "columnar/batch.hpp"
#include "columnar/builder.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::test {

/// A folder of its own under TMPDIR, removed with everything in it.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

enum class Nulls { kNone, kSome, kAll };

columnar::Schema sample_schema();
std::vector<columnar::ColumnBuilder> sample_columns(const columnar::Schema& schema, int64_t rows, Nulls nulls,
                                                    uint32_t seed);
columnar::BatchView view_of(const std::vector<columnar::ColumnBuilder>& columns);

/// Writes a file of `batches` batches of `rows` rows.
Status write_sample(const std::string& path, int batches, int64_t rows, Nulls nulls);

std::vector<uint8_t> read_bytes(const std::string& path);
void write_bytes(const std::string& path, const std::vector<uint8_t>& bytes);

}  // namespace strom::test
