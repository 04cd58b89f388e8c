// Messages, blocks and the footer of an Arrow file or stream: what the writers of this folder share. Private to
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

/// Writes in order: start, dictionaries and record batches, finish. Every message is padded so that bodies, and all
/// buffers in them, start at a multiple of 64 bytes.
class MessageWriter {
 public:
  using SchemaEncoder = std::function<flatbuffers::Offset<fbs::Schema>(flatbuffers::FlatBufferBuilder&)>;

  /// `stream`: the stream format, which has no magic and no footer.
  MessageWriter(std::unique_ptr<ByteSink> sink, bool stream) : sink_(std::move(sink)), stream_(stream) {}

  Status start(const SchemaEncoder& schema);
  /// Goes on after messages that are in the sink already.
  void resume(std::vector<fbs::Block> dictionaries, std::vector<fbs::Block> batches);
  Status write_batch(const BatchBody& body);
  Status write_dictionary(int64_t id, const BatchBody& body, bool is_delta);
  /// Custom metadata of the footer.
  void set_metadata(columnar::KeyValues metadata) { metadata_ = std::move(metadata); }
  /// The end of the stream, and the footer; commits the sink.
  Status finish(const SchemaEncoder& schema);

  const ByteSink& sink() const { return *sink_; }
  int64_t batch_count() const { return static_cast<int64_t>(batches_.size()); }
  /// Of the batch that was written last.
  const fbs::Block& last_batch() const { return batches_.back(); }
  /// Of the dictionary that was written last.
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
