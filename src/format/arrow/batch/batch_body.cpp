// See batch_body.hpp.
#include "format/arrow/batch/batch_body.hpp"

namespace strom::format::arrow {

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
    pieces_.push_back({const_cast<void*>(bytes), static_cast<size_t>(size)});
  }
  buffers_.push_back({size_, stored});
  const int64_t padding = padding_of(stored);
  if (codec_ != Codec::kNone) {
    compressed_.insert(compressed_.end(), static_cast<size_t>(padding), '\0');
  } else if (padding > 0) {
    pieces_.push_back({const_cast<char*>(kPadding), static_cast<size_t>(padding)});
  }
  size_ += stored + padding;
  return Status::ok();
}

void BatchBody::seal() {
  if (codec_ != Codec::kNone) pieces_ = {{compressed_.data(), compressed_.size()}};
}

}  // namespace strom::format::arrow
