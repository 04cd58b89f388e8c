// Growing columns of any Arrow type (nested.hpp), filled value by value. Appending costs a bounds check and a store: no
// allocation and no virtual call for each value.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "columnar/nested.hpp"

namespace strom::columnar {

/// Bytes that grow at the end; new ones are not initialized. Throws std::bad_alloc.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept { *this = std::move(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~ByteBuffer() { free(data_); }

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }
  void clear() { size_ = 0; }
  void truncate(int64_t size) { size_ = size; }
  /// Appends `bytes` bytes; where they are to be written.
  uint8_t* extend(int64_t bytes) {
    if (bytes > capacity_ - size_) grow(bytes);
    uint8_t* place = data_ + size_;
    size_ += bytes;
    return place;
  }
  template <class T>
  void push(T value) {
    std::memcpy(extend(sizeof(T)), &value, sizeof(T));
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  void grow(int64_t bytes);

  uint8_t* data_ = nullptr;
  int64_t size_ = 0, capacity_ = 0;
};

/// Buffers of a column in Arrow's layout, whose offsets are known to be in order. validity: nullptr when nothing is
/// NULL.
struct ColumnBuffers {
  const uint8_t *validity = nullptr, *values = nullptr, *data = nullptr;
};

/// One column, or a child of one. What is appended must fit the field's kind. Not thread-safe.
class NestedBuilder {
 public:
  /// `field` outlives the builder.
  explicit NestedBuilder(const NestedField& field);

  const NestedField& field() const { return *field_; }
  int64_t length() const { return length_; }
  int64_t null_count() const { return null_count_; }

  /// Kinds of fixed width, and indexes of dictionaries: T has the width.
  template <class T>
  void append(T value) {
    push_valid();
    values_.push(value);
  }
  /// A value of fixed width, to be written by the caller.
  uint8_t* append_fixed() {
    push_valid();
    return values_.extend(width_);
  }
  void append_bool(bool value) {
    push_bit(values_, value);
    push_valid();
  }
  /// kBinary, kUtf8. False, and nothing is appended, when the offsets could not address it.
  bool append_bytes(const void* bytes, int64_t size) {
    if (size > kMaxOffset - data_.size()) return false;
    copy_short(data_.extend(size), static_cast<const char*>(bytes), size);
    push_valid();
    values_.push(static_cast<int32_t>(data_.size()));
    return true;
  }
  /// kList: the elements were appended to child(0) before.
  void append_list() {
    push_valid();
    values_.push(static_cast<int32_t>(children_[0].length_));
  }
  /// kStruct: every child was given one value before.
  void append_struct() { push_valid(); }
  void append_null();
  /// `count` values of fixed width, to be written by the caller; flags[i] & 1: row i is NULL, and is to be zeros.
  /// `flags` nullptr: none is.
  uint8_t* append_fixed(const uint8_t* flags, int64_t count) {
    push_flags(flags, count);
    return values_.extend(count * width_);
  }
  /// kBinary, kUtf8: texts with `ptr` and `len`, of which those that are NULL are not looked at. False, and nothing is
  /// appended, when the offsets could not address them.
  template <class Text>
  bool append_texts(const Text* texts, const uint8_t* flags, int64_t count) {
    const int64_t begin = data_.size();
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; ++i)
      if (flags == nullptr || (flags[i] & 1) == 0) bytes += texts[i].len;
    if (bytes > kMaxOffset - begin) return false;
    auto* to = data_.extend(bytes);
    auto* offsets = values_.extend(count * static_cast<int64_t>(sizeof(int32_t)));
    auto end = static_cast<int32_t>(begin);
    for (int64_t i = 0; i < count; ++i) {
      if (flags == nullptr || (flags[i] & 1) == 0) {
        copy_short(to, texts[i].ptr, texts[i].len);
        to += texts[i].len;
        end += static_cast<int32_t>(texts[i].len);
      }
      std::memcpy(offsets + i * static_cast<int64_t>(sizeof(end)), &end, sizeof(end));
    }
    push_flags(flags, count);
    return true;
  }
  /// Rows [first, first + count) of another column of the same type. Children's rows were appended before: of kList all
  /// that these rows' offsets span. False, and nothing is appended here, when the offsets could not address it.
  bool append_rows(const ColumnBuffers& from, int64_t first, int64_t count);

  NestedBuilder& child(size_t index) { return children_[index]; }
  const std::vector<NestedBuilder>& children() const { return children_; }
  const ByteBuffer& validity() const { return validity_; }  // empty when there are no nulls
  const ByteBuffer& values() const { return values_; }      // values, bits or offsets
  const ByteBuffer& data() const { return data_; }          // what offsets of kBinary and kUtf8 point into
  bool is_valid(int64_t row) const { return null_count_ == 0 || (validity_.data()[row >> 3] >> (row & 7) & 1); }

  /// Bytes held in this column and its children.
  int64_t memory_bytes() const;
  /// No rows; memory is kept.
  void clear();
  /// Only the first `rows` <= length() rows.
  void truncate(int64_t rows);

  static constexpr int64_t kMaxOffset = INT32_MAX;

 private:
  void push_valid() {
    if (null_count_ > 0) push_bit(validity_, true);
    ++length_;
  }
  void push_flags(const uint8_t* flags, int64_t count);
  // Most texts are shorter than a call of memcpy() is worth: the first and the last bytes, which may be the same.
  static void copy_short(uint8_t* to, const char* from, int64_t size) {
    constexpr int64_t kEight = 8, kFour = 4;
    if (size > 2 * kEight) {
      std::memcpy(to, from, static_cast<size_t>(size));
    } else if (size >= kEight) {
      copy_ends<uint64_t>(to, from, size);
    } else if (size >= kFour) {
      copy_ends<uint32_t>(to, from, size);
    } else {
      for (int64_t i = 0; i < size; ++i) to[i] = static_cast<uint8_t>(from[i]);
    }
  }
  template <class Word>
  static void copy_ends(uint8_t* to, const char* from, int64_t size) {
    const int64_t last = size - static_cast<int64_t>(sizeof(Word));
    Word begin, end;
    std::memcpy(&begin, from, sizeof(Word));
    std::memcpy(&end, from + last, sizeof(Word));
    std::memcpy(to, &begin, sizeof(Word));
    std::memcpy(to + last, &end, sizeof(Word));
  }
  void push_bit(ByteBuffer& bits, bool value) {
    if ((length_ & 7) == 0) {
      *bits.extend(1) = value;
    } else {
      bits.data()[bits.size() - 1] |= static_cast<uint8_t>(value << (length_ & 7));
    }
  }
  bool has_offsets() const;
  bool append_offsets(const ColumnBuffers& from, int64_t first, int64_t count);
  void start_validity();
  bool is_bits() const { return field_->kind == Kind::kBool && field_->dictionary < 0; }

  const NestedField* field_;
  int64_t width_ = 0, length_ = 0, null_count_ = 0;
  ByteBuffer validity_, values_, data_;
  std::vector<NestedBuilder> children_;
};

}  // namespace strom::columnar
