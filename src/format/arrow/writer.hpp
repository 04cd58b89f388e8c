// Writer of Apache Arrow IPC files (metadata V5): schema, record batches, footer. Used by the benchmark's generator
// and shared by every tool that writes Arrow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/schema.hpp"
#include "format/staged_file.hpp"

namespace strom::format::arrow {

/// Writes to a temporary name beside `path`; finish() adds the footer, fsyncs and renames, so that `path` is either
/// absent, its old content, or a whole file. Dropping an unfinished writer removes the temporary file.
class FileWriter {
 public:
  /// `overwrite` false: an existing `path` is kIoError. Schema fields must be writable layouts.
  static Result<std::unique_ptr<FileWriter>> create(const std::string& path, columnar::Schema schema, bool overwrite,
                                                    PageCache cache = PageCache::kKeep);

  virtual ~FileWriter() = default;
  /// Appends one record batch; `batch.columns` in schema order, each of `batch.rows` rows. Thread-compatible: callers
  /// that build batches in parallel call this from one thread at a time.
  virtual Status write(const columnar::BatchView& batch) = 0;
  /// Replaces the metadata of a field or (field < 0) of the schema as it will stand in the footer.
  virtual void set_metadata(int field, columnar::KeyValues metadata) = 0;
  virtual Status finish() = 0;
};

}  // namespace strom::format::arrow
