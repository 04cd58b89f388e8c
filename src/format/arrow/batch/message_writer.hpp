// Messages, blocks and the footer of an Arrow file or stream: the common part of this folder's writers. Private to
// src/format/arrow.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "arrow_ipc_generated.h"
#include "columnar/schema.hpp"
#include "format/arrow/batch/batch_body.hpp"
#include "format/byte_sink.hpp"

namespace strom::format::arrow {

/// Calls in this order: start, dictionaries and record batches, finish. Every message is padded so that bodies, and all
/// buffers in them, start at a multiple of 64 bytes, and large ones at one of 4096.
class MessageWriter {
 public:
  using SchemaEncoder = std::function<flatbuffers::Offset<fbs::Schema>(flatbuffers::FlatBufferBuilder&)>;

  /// `stream`: the stream format, which has no magic and no footer.
  MessageWriter(std::unique_ptr<ByteSink> sink, bool stream) : sink_(std::move(sink)), stream_(stream) {}

  Status start(const SchemaEncoder& schema);
  /// Continues after messages that are already in the sink.
  void resume(std::vector<fbs::Block> dictionaries, std::vector<fbs::Block> batches);
  Status write_batch(const BatchBody& body);
  Status write_dictionary(int64_t id, const BatchBody& body, bool is_delta);
  /// Sets the footer's custom metadata.
  void set_metadata(columnar::KeyValues metadata) { metadata_ = std::move(metadata); }
  /// Writes the end of the stream, and the footer; commits the sink.
  Status finish(const SchemaEncoder& schema);

  const ByteSink& sink() const { return *sink_; }
  int64_t batch_count() const { return static_cast<int64_t>(batches_.size()); }
  /// The batch that was written last.
  const fbs::Block& last_batch() const { return batches_.back(); }
  /// The dictionary that was written last.
  const fbs::Block& last_dictionary() const { return dictionaries_.back(); }

 private:
  Status write_message(flatbuffers::FlatBufferBuilder& builder, fbs::MessageHeader kind,
                       flatbuffers::Offset<void> header, const BatchBody* body, fbs::Block* block);

  std::unique_ptr<ByteSink> sink_;
  bool stream_;
  std::vector<fbs::Block> dictionaries_, batches_;
  columnar::KeyValues metadata_;
};

}  // namespace strom::format::arrow
