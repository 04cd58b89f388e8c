// See arrow_forge.hpp.
#include "arrow_forge.hpp"

#include <cstring>

namespace strom::test {

namespace {

using flatbuffers::FlatBufferBuilder;

class Bytes {
 public:
  void add(const void* from, size_t count) {
    const auto* begin = static_cast<const uint8_t*>(from);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  template <class T>
  void add(T value) {
    add(&value, sizeof(value));
  }
  size_t size() const { return bytes_.size(); }

  /// Returns the message's length with its prefix.
  int32_t add_message(FlatBufferBuilder& builder) {
    const size_t padded = (builder.GetSize() + 7) / 8 * 8;
    add(uint32_t{0xFFFFFFFF});
    add(static_cast<uint32_t>(padded));
    add(builder.GetBufferPointer(), builder.GetSize());
    bytes_.resize(bytes_.size() + padded - builder.GetSize());
    return static_cast<int32_t>(padded + 8);
  }
  std::vector<uint64_t> words() const {
    std::vector<uint64_t> out((bytes_.size() + 7) / 8);
    std::memcpy(out.data(), bytes_.data(), bytes_.size());
    return out;
  }

 private:
  std::vector<uint8_t> bytes_;
};

flatbuffers::Offset<void> make_header(FlatBufferBuilder& builder, const ForgedBatch& batch) {
  const auto nodes = builder.CreateVectorOfStructs(batch.nodes);
  const auto buffers = builder.CreateVectorOfStructs(batch.buffers);
  const auto compression = batch.compression ? fbs::CreateBodyCompression(builder, *batch.compression) : 0;
  const auto counts = batch.variadic_counts.empty() ? 0 : builder.CreateVector(batch.variadic_counts);
  return fbs::CreateRecordBatch(builder, batch.rows, nodes, buffers, compression, counts).Union();
}

}  // namespace

std::vector<uint64_t> ForgedFile::build(size_t* size) const {
  Bytes bytes;
  bytes.add("ARROW1\0", 8);
  FlatBufferBuilder schema_builder;
  const auto first_schema = (message_schema ? message_schema : schema)(schema_builder);
  schema_builder.Finish(fbs::CreateMessage(schema_builder, version, fbs::MessageHeader::Schema, first_schema.Union()));
  bytes.add_message(schema_builder);

  std::vector<fbs::Block> blocks;
  for (const ForgedBatch& batch : batches) {
    const auto body_size = static_cast<int64_t>(batch.body.size() * 8);
    const auto pick = [](int64_t forged, int64_t honest) { return forged >= 0 ? forged : honest; };
    FlatBufferBuilder builder;
    const auto header = make_header(builder, batch);
    builder.Finish(fbs::CreateMessage(builder, version, batch.kind, header, pick(batch.body_length, body_size)));
    const auto offset = static_cast<int64_t>(bytes.size());
    const int32_t metadata_length = bytes.add_message(builder);
    bytes.add(batch.body.data(), batch.body.size() * 8);
    blocks.emplace_back(pick(batch.block_offset, offset),
                        static_cast<int32_t>(pick(batch.block_metadata_length, metadata_length)),
                        pick(batch.block_body_length, body_size));
  }
  bytes.add(uint64_t{0xFFFFFFFF});
  FlatBufferBuilder footer;
  const auto footer_schema = schema(footer);
  footer.Finish(fbs::CreateFooter(footer, footer_version, footer_schema, 0, footer.CreateVectorOfStructs(blocks)));
  bytes.add(footer.GetBufferPointer(), footer.GetSize());
  bytes.add(static_cast<int32_t>(footer.GetSize()));
  bytes.add("ARROW1", 6);
  *size = bytes.size();
  return bytes.words();
}

}  // namespace strom::test
