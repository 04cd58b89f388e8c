#include "engine/op/output/text_store.hpp"

#include <algorithm>
#include <cstring>

namespace strom::engine::op {

using registry::StrView;

void TextStore::own(StrView* values, const uint8_t* flags, int64_t count) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (flags != nullptr && flags[i] != 0) values[i] = {nullptr, 0};
    bytes += values[i].len;
  }
  if (bytes == 0) {  // views of empty texts would still dangle
    std::fill(values, values + count, StrView{"", 0});
    return;
  }
  char* to = room(bytes);
  for (int64_t i = 0; i < count; ++i) {
    if (values[i].len > 0) std::memcpy(to, values[i].ptr, static_cast<size_t>(values[i].len));
    values[i].ptr = to;
    to += values[i].len;
  }
}

char* TextStore::room(int64_t bytes) {
  if (left_ < bytes) {
    left_ = std::max(bytes, least_block_);
    auto block = std::shared_ptr<char[]>(new char[static_cast<size_t>(left_)]);
    free_ = block.get();
    bytes_ += left_;
    blocks_.push_back(std::move(block));
  }
  char* at = free_;
  free_ += bytes;
  left_ -= bytes;
  return at;
}

void TextStore::share(const TextStore& other) {
  blocks_.insert(blocks_.end(), other.blocks_.begin(), other.blocks_.end());
  bytes_ += other.bytes_;
}

void TextStore::clear() {
  blocks_.clear();
  bytes_ = left_ = 0;
  free_ = nullptr;
}

}  // namespace strom::engine::op
