// Arrow files with metadata that no honest writer produces, for tests of the reader's checks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "arrow_ipc_generated.h"

namespace strom::test {

namespace fbs = format::arrow::fbs;

/// One record batch, honest by default; what is set differs from what the body holds.
struct ForgedBatch {
  int64_t rows = 0;
  std::vector<fbs::FieldNode> nodes;
  std::vector<fbs::Buffer> buffers;
  std::vector<int64_t> variadic_counts;
  std::vector<uint64_t> body;
  int64_t body_length = -1;        // in the message; -1 = the length of `body`
  int64_t block_body_length = -1;  // in the footer
  int64_t block_offset = -1;
  int32_t block_metadata_length = -1;
  std::optional<fbs::CompressionType> compression = std::nullopt;
  fbs::MessageHeader kind = fbs::MessageHeader::RecordBatch;
};

using SchemaMaker = std::function<flatbuffers::Offset<fbs::Schema>(flatbuffers::FlatBufferBuilder&)>;

struct ForgedFile {
  SchemaMaker schema;
  SchemaMaker message_schema = {};                          // empty = `schema`
  fbs::MetadataVersion version = fbs::MetadataVersion::V5;  // of messages
  fbs::MetadataVersion footer_version = fbs::MetadataVersion::V5;
  std::vector<ForgedBatch> batches = {};

  /// The file's bytes; `size` receives how many of them.
  std::vector<uint64_t> build(size_t* size) const;
};

}  // namespace strom::test
