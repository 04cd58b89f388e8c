// See batch_body.hpp.
#include "format/arrow/batch/batch_body.hpp"

#include <cstdint>

namespace strom::format::arrow {

namespace {

bool is_for_pages(const void* bytes, int64_t size) {
  constexpr int64_t kLarge = 1 << 20;
  return size >= kLarge && reinterpret_cast<uintptr_t>(bytes) % kPageAlignment == 0;
}

}  // namespace

void BatchBody::pad(int64_t bytes) {
  if (bytes == 0) return;
  if (codec_ != Codec::kNone) {
    compressed_.insert(compressed_.end(), static_cast<size_t>(bytes), '\0');
  } else {
    pieces_.push_back({const_cast<char*>(kPadding), static_cast<size_t>(bytes)});
  }
  size_ += bytes;
}

Status BatchBody::add_buffer(const void* bytes, int64_t size, Compressor* compressor) {
  int64_t stored = size;
  if (compressor != nullptr && compressor->codec() != Codec::kNone) {
    codec_ = compressor->codec();
    if (size > 0) {
      const size_t before = compressed_.size();
      STROM_TRY(compressor->append(bytes, size, compressed_));
      stored = static_cast<int64_t>(compressed_.size() - before);
    }
  } else if (size > 0) {
    if (is_for_pages(bytes, size)) {
      alignment_ = kPageAlignment;
      pad(padding_of(size_, kPageAlignment));
    }
    pieces_.push_back({const_cast<void*>(bytes), static_cast<size_t>(size)});
  }
  buffers_.push_back({size_, stored});
  size_ += stored;
  pad(padding_of(size_));
  return Status::ok();
}

void BatchBody::seal() {
  if (codec_ != Codec::kNone) pieces_ = {{compressed_.data(), compressed_.size()}};
}

}  // namespace strom::format::arrow
