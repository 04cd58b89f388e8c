// An Arrow file that a tool appends to: its schema, dictionaries and messages. Used by tools that append.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/schema.hpp"
#include "format/staged_file.hpp"

namespace strom::format::arrow {

/// A file to append to.
struct ExistingFile {
  columnar::Schema schema;
  int64_t batches = 0;

  /// Errors: those of opening a file; kCorruptFile; kUnsupported for files that cannot be appended to.
  static Result<std::shared_ptr<const ExistingFile>> open(const std::string& path);
  /// Values of a dictionary of text. kUnsupported when they are compressed or not text; kCorruptFile.
  Result<std::vector<std::string>> dictionary(int64_t id) const;
  /// Rows of all record batches. kCorruptFile.
  Result<int64_t> count_rows() const;
  /// Copies all messages to the beginning of `file`. Errors: those of reading and writing; kFileChanged when the file
  /// is not the one that open() saw.
  Status copy_messages(StagedFile& file) const;

  struct Content;
  std::shared_ptr<const Content> content;
};

}  // namespace strom::format::arrow
