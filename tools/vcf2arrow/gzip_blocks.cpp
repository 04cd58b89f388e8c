// See gzip_blocks.hpp.
#include "vcf2arrow/gzip_blocks.hpp"

#include <libdeflate.h>

#include <cstring>
#include <string>

namespace strom::vcf2arrow {

namespace {

constexpr int64_t kHeaderBytes = 18;  // of a block, with its extra field
constexpr size_t kMostText = 65536;   // of a block

template <class T>
T load(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// The size of the block at a position; 0: there is none.
uint32_t block_size(const uint8_t* bytes, int64_t left) {
  if (left < kHeaderBytes || bytes[0] != 31 || bytes[1] != 139 || bytes[2] != 8 || (bytes[3] & 4) == 0) return 0;
  // Extra fields, of which BC has the block's size.
  const int64_t end = 12 + load<uint16_t>(bytes + 10);
  if (end > left) return 0;
  for (int64_t at = 12; at + 4 <= end; at += 4 + load<uint16_t>(bytes + at + 2)) {
    if (bytes[at] == 'B' && bytes[at + 1] == 'C' && load<uint16_t>(bytes + at + 2) == 2 && at + 6 <= end)
      return uint32_t{load<uint16_t>(bytes + at + 4)} + 1;
  }
  return 0;
}

}  // namespace

bool begins_block(const base::MappedFile& file, int64_t at) {
  return block_size(file.data() + at, file.size() - at) != 0;
}

Result<Block> block_at(const base::MappedFile& file, int64_t at) {
  const uint32_t size = block_size(file.data() + at, file.size() - at);
  if (size < kHeaderBytes + 8 || size > file.size() - at)
    return Status(ErrorCode::kCorruptFile,
                  "file \"" + file.path() + "\" is damaged or cut off at byte " + std::to_string(at));
  const auto text_size = load<uint32_t>(file.data() + at + size - 4);
  if (text_size > kMostText)
    return Status(ErrorCode::kCorruptFile,
                  "file \"" + file.path() + "\" has a block that is too large at byte " + std::to_string(at));
  return Block{at, 0, size, text_size};
}

Status check_last_block(const base::MappedFile& file) {
  constexpr uint8_t kEmpty[] = {31, 139, 8,  4, 0, 0, 0, 0, 0, 255, 6, 0, 66, 67,
                                2,  0,   27, 0, 3, 0, 0, 0, 0, 0,   0, 0, 0,  0};
  constexpr int64_t kSize = sizeof kEmpty;
  if (file.size() >= kSize && std::memcmp(file.data() + file.size() - kSize, kEmpty, sizeof kEmpty) == 0)
    return Status::ok();
  return no_last_block("file \"" + file.path() + "\"");
}

Status no_last_block(const std::string& name) {
  return Status(ErrorCode::kCorruptFile, name + " is cut off: it lacks the empty block that bgzip writes last")
      .with_hint("Fetch or make the file again.");
}

Inflater::Inflater() : decompressor_(libdeflate_alloc_decompressor()) {}

Inflater::~Inflater() { libdeflate_free_decompressor(decompressor_); }

Status Inflater::inflate(const base::MappedFile& file, const Block& block, char* to) {
  if (decompressor_ == nullptr) return {ErrorCode::kOutOfMemory, "out of memory"};
  size_t size = 0;
  const libdeflate_result result =
      libdeflate_gzip_decompress(decompressor_, file.data() + block.begin, block.size, to, block.text_size, &size);
  if (result == LIBDEFLATE_SUCCESS && size == block.text_size) return Status::ok();
  return {ErrorCode::kCorruptFile, "file \"" + file.path() +
                                       "\" has a block whose bytes do not fit its checksum at byte " +
                                       std::to_string(block.begin)};
}

Status inflate_all(const base::MappedFile& file, std::span<const Block> blocks, base::LargeVector<char>* to) {
  const int64_t first = blocks.front().text_begin;
  to->resize(static_cast<size_t>(blocks.back().text_begin + blocks.back().text_size - first));
  Inflater inflater;
  for (const Block& block : blocks) STROM_TRY(inflater.inflate(file, block, to->data() + (block.text_begin - first)));
  return Status::ok();
}

}  // namespace strom::vcf2arrow
