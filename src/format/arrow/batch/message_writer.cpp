// See message_writer.hpp.
#include "format/arrow/batch/message_writer.hpp"

#include <utility>

#include "format/arrow/metadata/ipc.hpp"
#include "format/arrow/metadata/schema_encode.hpp"

namespace strom::format::arrow {

namespace {

flatbuffers::Offset<fbs::RecordBatch> encode_batch(flatbuffers::FlatBufferBuilder& builder, const BatchBody& body) {
  std::vector<fbs::FieldNode> nodes;
  for (const auto& node : body.nodes()) nodes.emplace_back(node.a, node.b);
  std::vector<fbs::Buffer> buffers;
  for (const auto& buffer : body.buffers()) buffers.emplace_back(buffer.a, buffer.b);
  const auto node_vector = builder.CreateVectorOfStructs(nodes);
  const auto buffer_vector = builder.CreateVectorOfStructs(buffers);
  flatbuffers::Offset<fbs::BodyCompression> compression = 0;
  if (body.codec() != Codec::kNone) {
    compression = fbs::CreateBodyCompression(
        builder, body.codec() == Codec::kZstd ? fbs::CompressionType::Zstd : fbs::CompressionType::Lz4Frame);
  }
  const auto variadic = body.variadic_counts().empty() ? 0 : builder.CreateVector(body.variadic_counts());
  return fbs::CreateRecordBatch(builder, body.rows(), node_vector, buffer_vector, compression, variadic);
}

struct iovec piece(const void* bytes, int64_t size) { return {const_cast<void*>(bytes), static_cast<size_t>(size)}; }

}  // namespace

Status MessageWriter::start(const SchemaEncoder& schema) {
  if (!stream_) {
    STROM_TRY(sink_->append({piece(kMagic, kMagicBytes), piece(kPadding, kHeaderBytes - kMagicBytes)}));
  }
  flatbuffers::FlatBufferBuilder builder;
  const auto header = schema(builder);
  return write_message(builder, fbs::MessageHeader::Schema, header.Union(), nullptr, nullptr);
}

void MessageWriter::resume(std::vector<fbs::Block> dictionaries, std::vector<fbs::Block> batches) {
  dictionaries_ = std::move(dictionaries);
  batches_ = std::move(batches);
}

Status MessageWriter::write_batch(const BatchBody& body) {
  flatbuffers::FlatBufferBuilder builder;
  const auto header = encode_batch(builder, body);
  return write_message(builder, fbs::MessageHeader::RecordBatch, header.Union(), &body, &batches_.emplace_back());
}

Status MessageWriter::write_dictionary(int64_t id, const BatchBody& body, bool is_delta) {
  flatbuffers::FlatBufferBuilder builder;
  const auto batch = encode_batch(builder, body);
  const auto header = fbs::CreateDictionaryBatch(builder, id, batch, is_delta);
  return write_message(builder, fbs::MessageHeader::DictionaryBatch, header.Union(), &body,
                       &dictionaries_.emplace_back());
}

Status MessageWriter::write_message(flatbuffers::FlatBufferBuilder& builder, fbs::MessageHeader kind,
                                    flatbuffers::Offset<void> header, const BatchBody* body, fbs::Block* block) {
  const int64_t body_size = body == nullptr ? 0 : body->size();
  builder.Finish(fbs::CreateMessage(builder, fbs::MetadataVersion::V5, kind, header, body_size));
  const int64_t start = sink_->position();
  constexpr int64_t kPrefixBytes = 8;
  const auto metadata_size = static_cast<int64_t>(builder.GetSize());
  const int64_t alignment = body == nullptr ? kBufferAlignment : body->alignment();
  const int64_t pad = padding_of(start + kPrefixBytes + metadata_size, alignment);
  const uint32_t prefix[2] = {kContinuation, static_cast<uint32_t>(metadata_size + pad)};
  std::vector<struct iovec> pieces = {piece(prefix, sizeof(prefix)), piece(builder.GetBufferPointer(), metadata_size),
                                      piece(kPadding, pad)};
  if (body != nullptr) pieces.insert(pieces.end(), body->pieces().begin(), body->pieces().end());
  STROM_TRY(sink_->append(std::move(pieces)));
  if (block != nullptr) *block = fbs::Block(start, static_cast<int32_t>(kPrefixBytes + metadata_size + pad), body_size);
  return Status::ok();
}

Status MessageWriter::finish(const SchemaEncoder& schema) {
  const uint32_t end_of_stream[2] = {kContinuation, 0};
  STROM_TRY(sink_->append({piece(end_of_stream, sizeof(end_of_stream))}));
  if (stream_) return sink_->commit();
  flatbuffers::FlatBufferBuilder builder;
  const auto root = schema(builder);
  const auto dictionaries = builder.CreateVectorOfStructs(dictionaries_);
  const auto batches = builder.CreateVectorOfStructs(batches_);
  const auto metadata = metadata_.empty() ? 0 : encode_metadata(builder, metadata_);
  builder.Finish(fbs::CreateFooter(builder, fbs::MetadataVersion::V5, root, dictionaries, batches, metadata));
  const auto footer_size = static_cast<int32_t>(builder.GetSize());
  STROM_TRY(sink_->append({piece(builder.GetBufferPointer(), footer_size), piece(&footer_size, sizeof(footer_size)),
                           piece(kMagic, kMagicBytes)}));
  return sink_->commit();
}

}  // namespace strom::format::arrow
