// Messages of a file that a tool appends to. Private to src/format/arrow.
#pragma once

#include <string>
#include <vector>

#include "arrow_ipc_generated.h"
#include "format/arrow/write/existing_file.hpp"
#include "format/arrow/metadata/file_tail.hpp"

namespace strom::format::arrow {

/// The contents of a file's messages.
struct ExistingFile::Content {
  FileTail tail;
  std::vector<fbs::Block> dictionaries, batches;
  int64_t end = 0;  // of the last message

  Status add_blocks(const flatbuffers::Vector<const fbs::Block*>* source, fbs::MessageHeader kind,
                    std::vector<fbs::Block>& blocks);
  Status add_values(const fbs::RecordBatch& batch, int64_t body, int64_t body_size,
                    std::vector<std::string>& values) const;
};

}  // namespace strom::format::arrow
