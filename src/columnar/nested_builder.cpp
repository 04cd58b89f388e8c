// See nested_builder.hpp.
#include "columnar/nested_builder.hpp"

#include <algorithm>

namespace strom::columnar {

void ByteBuffer::grow(int64_t bytes) {
  // By half, so that the memory freed by earlier steps can hold a later one.
  const int64_t wanted = std::max<int64_t>({size_ + bytes, capacity_ + capacity_ / 2, 64});
  void* moved = realloc(data_, static_cast<size_t>(wanted));
  if (moved == nullptr) throw std::bad_alloc();
  data_ = static_cast<uint8_t*>(moved);
  capacity_ = wanted;
}

NestedBuilder::NestedBuilder(const NestedField& field)
    : field_(&field), width_(field.dictionary < 0 ? fixed_width(field) : static_cast<int64_t>(sizeof(int32_t))) {
  if (field.dictionary < 0) {
    for (const NestedField& child : field.children) children_.emplace_back(child);
  }
  clear();
}

bool NestedBuilder::has_offsets() const {
  return field_->dictionary < 0 &&
         (field_->kind == Kind::kBinary || field_->kind == Kind::kUtf8 || field_->kind == Kind::kList);
}

void NestedBuilder::append_null() {
  if (null_count_ == 0) {  // the first: all rows before are valid
    validity_.clear();
    const int64_t bytes = (length_ + 7) / 8;
    if (bytes > 0) {
      std::memset(validity_.extend(bytes), 0xFF, static_cast<size_t>(bytes));
      if (length_ & 7) validity_.data()[bytes - 1] = static_cast<uint8_t>((1u << (length_ & 7)) - 1);
    }
  }
  push_bit(validity_, false);
  if (is_bits()) {
    push_bit(values_, false);
  } else if (has_offsets()) {
    int32_t last;
    std::memcpy(&last, values_.data() + values_.size() - sizeof(last), sizeof(last));
    values_.push(last);
  } else if (width_ > 0) {
    std::memset(values_.extend(width_), 0, static_cast<size_t>(width_));
  } else {
    for (NestedBuilder& child : children_) child.append_null();
  }
  ++null_count_;
  ++length_;
}

int64_t NestedBuilder::memory_bytes() const {
  int64_t bytes = validity_.size() + values_.size() + data_.size();
  for (const NestedBuilder& child : children_) bytes += child.memory_bytes();
  return bytes;
}

void NestedBuilder::clear() {
  length_ = null_count_ = 0;
  validity_.clear();
  values_.clear();
  data_.clear();
  if (has_offsets()) values_.push(int32_t{0});
  for (NestedBuilder& child : children_) child.clear();
}

}  // namespace strom::columnar
