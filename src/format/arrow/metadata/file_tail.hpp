// The end of an Arrow file, where its footer is: for users that read no columns. Private to src/format/arrow.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "arrow_ipc_generated.h"
#include "base/mapped_file.hpp"
#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

struct FileTail {
  std::shared_ptr<const base::MappedFile> mapping;
  FileBytes bytes;               // up to the valid end: the mapping may have more
  Metadata<fbs::Footer> footer;  // has a schema
  int64_t footer_offset = 0;

  /// Errors: those of opening a file; kCorruptFile.
  static Result<FileTail> open(const std::string& path);
  static Result<FileTail> load(std::shared_ptr<const base::MappedFile> mapping);
  /// True when the block lies between the start of the file and the footer.
  bool is_inside(const fbs::Block& block) const;
};

}  // namespace strom::format::arrow
