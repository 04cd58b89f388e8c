// Growing columns of any Arrow type, filled value by value: what every producer of record batches appends to (tools,
// INSERT, exports, the benchmark's generator, inner sides that come from PostgreSQL plans). Appending costs a bounds
// check and a store: no allocation and no virtual call for each value.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "columnar/batch.hpp"
#include "columnar/schema.hpp"

namespace strom::columnar {

/// Bytes that grow at the end; new bytes are not initialized. Many of them begin at a page of memory, from which a disk
/// takes them as they lie. Throws std::bad_alloc.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept { *this = std::move(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(shift_, other.shift_);
    return *this;
  }
  ~ByteBuffer() { free(data_ - shift_); }

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  int64_t size() const { return size_; }
  void clear() { size_ = 0; }
  void truncate(int64_t size) { size_ = size; }
  /// Appends `bytes` bytes; returns where the caller has to write them.
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
  int64_t shift_ = 0;  // of data_ in its allocation
};

/// Buffers of a column in Arrow's layout. The caller knows that its offsets are in order. `validity` is nullptr when no
/// row is NULL.
struct ColumnBuffers {
  const uint8_t *validity = nullptr, *values = nullptr, *data = nullptr;
};

class DictionaryBuilder;

/// One column, or a child of one. What is appended must fit the field's layout. Not thread-safe.
class ColumnBuilder {
 public:
  explicit ColumnBuilder(const Field& field);

  const Field& field() const { return *field_; }
  int64_t length() const { return length_; }
  int64_t null_count() const { return null_count_; }

  /// For layouts of fixed width, and for indexes of dictionaries: sizeof(T) is the width.
  template <class T>
  void append(T value) {
    push_valid();
    values_.push(value);
  }
  /// Appends a value of fixed width; returns where the caller has to write it.
  uint8_t* append_fixed() {
    push_valid();
    return values_.extend(width_);
  }
  void append_bool(bool value) {
    push_bit(values_, value);
    push_valid();
  }
  /// For texts and bytes. False, and nothing is appended, when the offsets could not address the value.
  bool append_bytes(const void* bytes, int64_t size) {
    if (form_ == Form::kViews) return append_as_view(bytes, size);
    if (size > max_offset_ - data_.size()) return false;
    copy_short(data_.extend(size), static_cast<const char*>(bytes), size);
    push_valid();
    push_offset(data_.size());
    return true;
  }
  /// The same, and also for kFixedBinary: shorter values are padded with blanks, longer ones return false.
  bool append_bytes(std::string_view bytes) {
    return form_ == Form::kFixed ? append_padded(bytes)
                                 : append_bytes(bytes.data(), static_cast<int64_t>(bytes.size()));
  }
  /// For lists and maps: their elements must be in child(0) already. A list of fixed size needs exactly that many
  /// elements. False, and only the elements are appended, when the offsets could not address them.
  bool append_list() {
    const int64_t end = children_[0].length_;
    if (end > max_offset_) return false;
    push_valid();
    if (form_ == Form::kListOffsets)
      push_offset(end);
    else if (form_ == Form::kListViews)
      push_list_view(end);
    return true;
  }
  /// For kStruct: each child already has the row's value.
  void append_struct() { push_valid(); }
  /// For unions: child(index) already has the row's value, and in a kSparseUnion every child has one.
  void append_union(size_t index);
  /// For kRunEndEncoded: child(1) already has the row's value. False when the type of run ends is too narrow.
  bool append_run();
  void append_null();
  /// Appends `count` values of fixed width; returns where the caller has to write them. flags[i] & 1: row i is NULL,
  /// and the caller writes zeros. `flags` nullptr: no row is NULL.
  uint8_t* append_fixed(const uint8_t* flags, int64_t count) {
    push_flags(flags, count);
    return values_.extend(count * width_);
  }
  /// For kBinary and kUtf8: texts with `ptr` and `len`; those of NULL rows are not looked at. False, and nothing is
  /// appended, when the offsets could not address them, and for other layouts.
  template <class Text>
  bool append_texts(const Text* texts, const uint8_t* flags, int64_t count) {
    if (form_ != Form::kOffsets || width_ != sizeof(int32_t)) return false;
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
  /// Appends rows [first, first + count) of another column of the same type: of bits, of fixed width, with offsets of
  /// 32 or 64 bits, or a struct. The children's rows must be appended before; a list needs all rows that its offsets
  /// span. False, and nothing is appended here, when the offsets could not address the rows.
  bool append_rows(const ColumnBuffers& from, int64_t first, int64_t count);

  ColumnBuilder& child(size_t index) { return children_[index]; }
  const std::vector<ColumnBuilder>& children() const { return children_; }
  const ByteBuffer& validity() const { return validity_; }  // empty when there are no nulls
  const ByteBuffer& values() const { return values_; }      // values, bits, offsets, views or type ids
  /// What offsets of texts and views point into; sizes of list views; offsets of kDenseUnion.
  const ByteBuffer& data() const { return data_; }
  bool is_valid(int64_t row) const {
    return null_count_ == 0 || (form_ != Form::kNone && (validity_.data()[row >> 3] >> (row & 7) & 1));
  }

  /// Values are looked up in this dictionary and added to it. nullptr: the caller appends indexes.
  void set_dictionary(std::shared_ptr<DictionaryBuilder> dictionary) { dictionary_ = std::move(dictionary); }
  DictionaryBuilder* dictionary() const { return dictionary_.get(); }

  /// The view is valid until rows change. Calls from one thread at a time.
  const ColumnView& view() const;

  /// Bytes held in this column and its children.
  int64_t memory_bytes() const;
  /// Removes all rows and keeps the memory.
  void clear();
  /// Keeps only the first `rows` <= length() rows.
  void truncate(int64_t rows);

  static constexpr int64_t kMaxOffset = INT32_MAX;

 private:
  void push_valid() {
    if (null_count_ > 0) push_bit(validity_, true);
    ++length_;
  }
  void push_flags(const uint8_t* flags, int64_t count);
  // Most texts are too short for a call of memcpy(): this copies the first and the last bytes, which may overlap.
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
  ColumnBuilder(std::shared_ptr<const Field> field, bool is_root);
  bool has_bitmap() const { return form_ != Form::kNone && form_ != Form::kUnion && form_ != Form::kRunEnds; }
  void push_offset(int64_t end) {
    if (width_ == sizeof(int32_t))
      values_.push(static_cast<int32_t>(end));
    else
      values_.push(end);
  }
  int64_t offset_at(int64_t row) const;
  bool append_as_view(const void* bytes, int64_t size);
  bool append_padded(std::string_view bytes);
  void push_list_view(int64_t end);
  void push_null_value();
  bool repeats_last() const;
  bool append_offsets(const ColumnBuffers& from, int64_t first, int64_t count);
  void start_validity();
  void truncate_values(int64_t rows);
  void truncate_runs(int64_t rows);

  std::shared_ptr<const Field> field_;  // the root's; children's fields are parts of it
  Form form_ = Form::kFixed;            // of indexes: kFixed
  int64_t width_ = 0, max_offset_ = kMaxOffset;
  int64_t length_ = 0, null_count_ = 0;
  ByteBuffer validity_, values_, data_;
  std::vector<ColumnBuilder> children_;
  std::shared_ptr<DictionaryBuilder> dictionary_;
  struct Parts;
  mutable std::shared_ptr<Parts> parts_;  // of view()
};

}  // namespace strom::columnar
