// See nested_builder.hpp.
#include "columnar/nested_builder.hpp"

#include <algorithm>

namespace strom::columnar {

namespace {

/// Eight or fewer bits from bit `first` on; those above `count` are anything.
unsigned load_bits(const uint8_t* bits, int64_t first, int64_t count) {
  const int64_t shift = first & 7;
  unsigned value = bits[first >> 3] >> shift;
  if (shift + count > 8) value |= static_cast<unsigned>(bits[(first >> 3) + 1]) << (8 - shift);
  return value;
}

/// Behind the `length` bits of `to`; ones when `from` is nullptr.
void append_bits(ByteBuffer& to, int64_t length, const uint8_t* from, int64_t first, int64_t count) {
  const int64_t added = (length + count + 7) / 8 - (length + 7) / 8;
  if (added > 0) std::memset(to.extend(added), 0, static_cast<size_t>(added));
  for (int64_t done = 0; done < count;) {
    const int64_t at = length + done, bits = std::min<int64_t>(8 - (at & 7), count - done);
    const unsigned value = from == nullptr ? 0xFF : load_bits(from, first + done, bits);
    to.data()[at >> 3] |= static_cast<uint8_t>((value & ((1u << bits) - 1)) << (at & 7));
    done += bits;
  }
}

int64_t count_zeros(const uint8_t* bits, int64_t first, int64_t count) {
  int64_t ones = 0;
  for (int64_t done = 0; done < count; done += 8) {
    const int64_t step = std::min<int64_t>(8, count - done);
    ones += __builtin_popcount(load_bits(bits, first + done, step) & ((1u << step) - 1));
  }
  return count - ones;
}

int32_t load_offset(const uint8_t* offsets, int64_t row) {
  int32_t value;
  std::memcpy(&value, offsets + row * static_cast<int64_t>(sizeof(value)), sizeof(value));
  return value;
}

}  // namespace

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

/// The first NULL comes: all rows before are valid.
void NestedBuilder::start_validity() {
  validity_.clear();
  append_bits(validity_, 0, nullptr, 0, length_);
}

void NestedBuilder::push_flags(const uint8_t* flags, int64_t count) {
  int64_t nulls = 0;
  for (int64_t i = 0; flags != nullptr && i < count; ++i) nulls += flags[i] & 1;
  if (null_count_ == 0 && nulls > 0) start_validity();
  null_count_ += nulls;
  if (nulls == 0) {
    if (null_count_ > 0) append_bits(validity_, length_, nullptr, 0, count);
    length_ += count;
    return;
  }
  for (int64_t i = 0; i < count; ++i, ++length_) push_bit(validity_, (flags[i] & 1) == 0);
}

bool NestedBuilder::append_offsets(const ColumnBuffers& from, int64_t first, int64_t count) {
  const int64_t begin = load_offset(from.values, first), bytes = load_offset(from.values, first + count) - begin;
  const int64_t end = load_offset(values_.data(), length_);
  if (bytes > kMaxOffset - end) return false;
  if (field_->kind != Kind::kList && bytes > 0)
    std::memcpy(data_.extend(bytes), from.data + begin, static_cast<size_t>(bytes));
  const auto shift = static_cast<int32_t>(end - begin);
  constexpr auto kWidth = static_cast<int64_t>(sizeof(int32_t));
  uint8_t* out = values_.extend(count * kWidth);
  for (int64_t i = 0; i < count; ++i) {
    const int32_t offset = load_offset(from.values, first + i + 1) + shift;
    std::memcpy(out + i * kWidth, &offset, sizeof(offset));
  }
  return true;
}

bool NestedBuilder::append_rows(const ColumnBuffers& from, int64_t first, int64_t count) {
  if (count == 0) return true;
  if (has_offsets()) {
    if (!append_offsets(from, first, count)) return false;
  } else if (is_bits()) {
    append_bits(values_, length_, from.values, first, count);
  } else if (width_ > 0) {
    std::memcpy(values_.extend(count * width_), from.values + first * width_, static_cast<size_t>(count * width_));
  }
  const int64_t nulls = from.validity == nullptr ? 0 : count_zeros(from.validity, first, count);
  if (null_count_ == 0 && nulls > 0) start_validity();
  null_count_ += nulls;
  if (null_count_ > 0) append_bits(validity_, length_, from.validity, first, count);
  length_ += count;
  return true;
}

void NestedBuilder::append_null() {
  if (null_count_ == 0) start_validity();
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

void NestedBuilder::truncate(int64_t rows) {
  const auto cut_bits = [rows](ByteBuffer& bits) {
    bits.truncate((rows + 7) / 8);
    if (rows & 7) bits.data()[rows >> 3] &= static_cast<uint8_t>((1u << (rows & 7)) - 1);
  };
  if (null_count_ > 0) {
    for (int64_t row = rows; row < length_; ++row) null_count_ -= !(validity_.data()[row >> 3] >> (row & 7) & 1);
    cut_bits(validity_);
    if (null_count_ == 0) validity_.clear();
  }
  length_ = rows;
  if (is_bits()) {
    cut_bits(values_);
  } else if (has_offsets()) {
    int32_t end;
    std::memcpy(&end, values_.data() + rows * static_cast<int64_t>(sizeof(end)), sizeof(end));
    values_.truncate((rows + 1) * static_cast<int64_t>(sizeof(end)));
    if (field_->kind == Kind::kList) {
      children_[0].truncate(end);
    } else {
      data_.truncate(end);
    }
  } else if (width_ > 0) {
    values_.truncate(rows * width_);
  } else {
    for (NestedBuilder& child : children_) child.truncate(rows);
  }
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
