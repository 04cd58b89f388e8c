// An encapsulated message of the Arrow IPC format: prefix, metadata flatbuffer, body. Private to src/format/arrow.
#pragma once

#include <cstdint>

#include "arrow_ipc_generated.h"
#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

struct Message {
  Metadata<fbs::Message> metadata;
  int64_t metadata_offset = 0;  // of the flatbuffer in the file

  const fbs::Message& root() const { return metadata.root(); }
};

/// Loads the message whose prefix starts at `offset` and whose metadata end at `limit` or before (`limit` is inside of
/// the file). The prefix is the size; since format 0.15 a continuation marker precedes it. Errors: kCorruptFile.
Result<Message> load_message(const FileBytes& file, int64_t offset, int64_t limit, const char* what);

}  // namespace strom::format::arrow
