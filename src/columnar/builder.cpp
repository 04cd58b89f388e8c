// See builder.hpp.
#include "columnar/builder.hpp"

#include <algorithm>

namespace strom::columnar {

namespace {

/// Loads up to eight bits from bit `first` on. The bits above `count` are undefined.
unsigned load_bits(const uint8_t* bits, int64_t first, int64_t count) {
  const int64_t shift = first & 7;
  unsigned value = bits[first >> 3] >> shift;
  if (shift + count > 8) value |= static_cast<unsigned>(bits[(first >> 3) + 1]) << (8 - shift);
  return value;
}

/// Appends bits behind the `length` bits of `to`: ones when `from` is nullptr.
void append_bits(ByteBuffer& to, int64_t length, const uint8_t* from, int64_t first, int64_t count) {
  if (count == 0) return;  // there may be no memory yet
  const int64_t added = (length + count + 7) / 8 - (length + 7) / 8;
  if (added > 0) std::memset(to.extend(added), 0, static_cast<size_t>(added));
  int64_t done = 0;
  if (((length | (from == nullptr ? 0 : first)) & 7) == 0) {
    const auto bytes = static_cast<size_t>(count / 8);
    if (from == nullptr)
      std::memset(to.data() + (length >> 3), 0xFF, bytes);
    else
      std::memcpy(to.data() + (length >> 3), from + (first >> 3), bytes);
    done = count & ~int64_t{7};
  }
  while (done < count) {
    const int64_t at = length + done, bits = std::min<int64_t>(8 - (at & 7), count - done);
    const unsigned value = from == nullptr ? 0xFF : load_bits(from, first + done, bits);
    to.data()[at >> 3] |= static_cast<uint8_t>((value & ((1u << bits) - 1)) << (at & 7));
    done += bits;
  }
}

template <class T>
T load_at(const uint8_t* bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

constexpr int64_t kViewBytes = 16, kInlineBytes = 12;

/// How a value of 16 bytes refers to a text: see Form::kViews.
struct TextView {
  int32_t length;
  char prefix[4];
  int32_t buffer, offset;
};

}  // namespace

void ByteBuffer::grow(int64_t bytes) {
  // Grows by half only, so that memory that earlier steps freed can hold a later one.
  const int64_t wanted = std::max<int64_t>({size_ + bytes, capacity_ + capacity_ / 2, 64});
  constexpr int64_t kMany = 1 << 20, kPage = 4096;
  const int64_t spare = wanted < kMany ? 0 : kPage;
  auto* const moved = static_cast<uint8_t*>(realloc(data_ - shift_, static_cast<size_t>(wanted + spare)));
  if (moved == nullptr) throw std::bad_alloc();
  // realloc() moves pages of large allocations without copying them, so that the shift seldom changes.
  const int64_t shift = spare == 0 ? 0 : -reinterpret_cast<intptr_t>(moved) & (kPage - 1);
  if (shift != shift_ && size_ > 0) std::memmove(moved + shift, moved + shift_, static_cast<size_t>(size_));
  data_ = moved + shift;
  shift_ = shift;
  capacity_ = wanted;
}

/// What view() points to besides the buffers.
struct ColumnBuilder::Parts {
  ColumnView view;
  std::vector<ColumnView> children;
  const char* variadic = nullptr;
  int64_t variadic_size = 0;
};

ColumnBuilder::ColumnBuilder(const Field& field) : ColumnBuilder(std::make_shared<const Field>(field), true) {}

ColumnBuilder::ColumnBuilder(std::shared_ptr<const Field> field, bool)
    : field_(std::move(field)),
      form_(field_->dictionary ? Form::kFixed : form_of(field_->layout)),
      width_(stored_width(*field_)) {
  const bool is_large = (form_ == Form::kOffsets || form_ == Form::kListOffsets || form_ == Form::kListViews) &&
                        width_ == sizeof(int64_t);
  if (is_large || form_ == Form::kFixedList) max_offset_ = INT64_MAX / 2;
  if (!field_->dictionary)
    for (const Field& child : field_->children)
      children_.push_back(ColumnBuilder(std::shared_ptr<const Field>(field_, &child), false));
  clear();
}

int64_t ColumnBuilder::offset_at(int64_t row) const {
  return width_ == sizeof(int32_t) ? load_at<int32_t>(values_.data(), row) : load_at<int64_t>(values_.data(), row);
}

/// Called for the first NULL: all rows before it are valid.
void ColumnBuilder::start_validity() {
  validity_.clear();
  append_bits(validity_, 0, nullptr, 0, length_);
}

void ColumnBuilder::push_flags(const uint8_t* flags, int64_t count) {
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

bool ColumnBuilder::append_as_view(const void* bytes, int64_t size) {
  if (size > kMaxOffset - data_.size()) return false;
  TextView view{};
  view.length = static_cast<int32_t>(size);
  push_valid();
  uint8_t* place = values_.extend(kViewBytes);
  if (size <= kInlineBytes) {
    std::memset(place, 0, kViewBytes);
    std::memcpy(place, &view.length, sizeof(view.length));
    std::memcpy(place + sizeof(view.length), bytes, static_cast<size_t>(size));
    return true;
  }
  view.offset = static_cast<int32_t>(data_.size());
  std::memcpy(view.prefix, bytes, sizeof(view.prefix));
  std::memcpy(data_.extend(size), bytes, static_cast<size_t>(size));
  std::memcpy(place, &view, sizeof(view));
  return true;
}

bool ColumnBuilder::append_padded(std::string_view bytes) {
  const auto width = static_cast<size_t>(width_);
  if (bytes.size() > width) return false;
  uint8_t* place = append_fixed();
  std::memcpy(place, bytes.data(), bytes.size());
  std::memset(place + bytes.size(), ' ', width - bytes.size());
  return true;
}

/// Appends the row of a list view that begins where the row before it ends. The row is already counted.
void ColumnBuilder::push_list_view(int64_t end) {
  const auto sum = [this](auto zero, int64_t row) -> int64_t {
    using Offset = decltype(zero);
    return int64_t{load_at<Offset>(values_.data(), row)} + load_at<Offset>(data_.data(), row);
  };
  const int64_t before = length_ - 2;
  if (width_ == sizeof(int32_t)) {
    const int64_t begin = before < 0 ? 0 : sum(int32_t{0}, before);
    values_.push(static_cast<int32_t>(begin));
    data_.push(static_cast<int32_t>(end - begin));
  } else {
    const int64_t begin = before < 0 ? 0 : sum(int64_t{0}, before);
    values_.push(begin);
    data_.push(end - begin);
  }
}

void ColumnBuilder::append_union(size_t index) {
  const bool is_dense = field_->layout == Layout::kDenseUnion;
  ++length_;
  values_.push(static_cast<int8_t>(field_->type_ids[index]));
  if (is_dense) data_.push(static_cast<int32_t>(children_[index].length() - 1));
}

/// True when the last two values of child(1) are equal.
bool ColumnBuilder::repeats_last() const {
  const ColumnBuilder& values = children_[1];
  const int64_t last = values.length_ - 1;
  if (last < 1 || values.is_valid(last) != values.is_valid(last - 1)) return false;
  if (!values.is_valid(last)) return true;
  if (values.form_ == Form::kFixed) {
    const uint8_t* end = values.values_.data() + values.values_.size();
    const auto width = static_cast<size_t>(values.width_);
    return std::memcmp(end - width, end - 2 * width, width) == 0;
  }
  if (values.form_ != Form::kOffsets) return false;
  const int64_t a = values.offset_at(last - 1), b = values.offset_at(last), c = values.offset_at(last + 1);
  return b - a == c - b &&
         (b == a || std::memcmp(values.data_.data() + a, values.data_.data() + b, static_cast<size_t>(b - a)) == 0);
}

bool ColumnBuilder::append_run() {
  ColumnBuilder& ends = children_[0];
  const int64_t end = length_ + 1;
  const int64_t most = ends.width_ == sizeof(int16_t)   ? INT16_MAX
                       : ends.width_ == sizeof(int32_t) ? INT32_MAX
                                                        : INT64_MAX;
  if (end > most) {
    children_[1].truncate(children_[1].length() - 1);
    return false;
  }
  if (repeats_last()) {
    children_[1].truncate(children_[1].length() - 1);
    ends.truncate(ends.length() - 1);
  }
  std::memcpy(ends.append_fixed(), &end, static_cast<size_t>(ends.width_));  // little-endian: the low bytes
  ++length_;
  return true;
}

bool ColumnBuilder::append_offsets(const ColumnBuffers& from, int64_t first, int64_t count) {
  const auto at = [&](int64_t row) -> int64_t {
    return width_ == sizeof(int32_t) ? load_at<int32_t>(from.values, row) : load_at<int64_t>(from.values, row);
  };
  const int64_t begin = at(first), bytes = at(first + count) - begin;
  const int64_t end = offset_at(length_);
  if (bytes > max_offset_ - end) return false;
  if (form_ == Form::kOffsets && bytes > 0)
    std::memcpy(data_.extend(bytes), from.data + begin, static_cast<size_t>(bytes));
  const auto shift_all = [&](auto zero) {
    using Offset = decltype(zero);
    const auto shift = static_cast<Offset>(end - begin);
    constexpr auto kWidth = static_cast<int64_t>(sizeof(Offset));
    uint8_t* __restrict out = values_.extend(count * kWidth);
    const uint8_t* in = from.values + (first + 1) * kWidth;
    for (int64_t i = 0; i < count; ++i) {
      const auto offset = static_cast<Offset>(load_at<Offset>(in, i) + shift);
      std::memcpy(out + i * kWidth, &offset, sizeof(offset));
    }
  };
  if (width_ == sizeof(int32_t))
    shift_all(int32_t{0});
  else
    shift_all(int64_t{0});
  return true;
}

bool ColumnBuilder::append_rows(const ColumnBuffers& from, int64_t first, int64_t count) {
  if (count == 0) return true;
  if (form_ == Form::kOffsets || form_ == Form::kListOffsets) {
    if (!append_offsets(from, first, count)) return false;
  } else if (form_ == Form::kBits) {
    append_bits(values_, length_, from.values, first, count);
  } else if (width_ > 0) {
    std::memcpy(values_.extend(count * width_), from.values + first * width_, static_cast<size_t>(count * width_));
  }
  const int64_t nulls = from.validity == nullptr ? 0 : count - count_bits(from.validity, first, count);
  if (null_count_ == 0 && nulls > 0) start_validity();
  null_count_ += nulls;
  if (null_count_ > 0) append_bits(validity_, length_, from.validity, first, count);
  length_ += count;
  return true;
}

/// Appends what stands for NULL in the values. The row is not counted yet.
void ColumnBuilder::push_null_value() {
  switch (form_) {
    case Form::kBits: push_bit(values_, false); break;
    case Form::kFixed:
    case Form::kViews: std::memset(values_.extend(width_), 0, static_cast<size_t>(width_)); break;
    case Form::kOffsets:
    case Form::kListOffsets: push_offset(offset_at(length_)); break;
    case Form::kListViews:
      ++length_;
      push_list_view(children_[0].length());
      --length_;
      break;
    case Form::kFixedList:
      for (int32_t i = 0; i < field_->byte_width; ++i) children_[0].append_null();
      break;
    case Form::kStruct:
      for (ColumnBuilder& child : children_) child.append_null();
      break;
    case Form::kNone:
    case Form::kUnion:
    case Form::kRunEnds: break;
  }
}

void ColumnBuilder::append_null() {
  if (form_ == Form::kRunEnds) {
    children_[1].append_null();
    (void)append_run();
    return;
  }
  if (form_ == Form::kUnion) {  // a NULL of its first child
    const bool is_sparse = field_->layout == Layout::kSparseUnion;
    for (size_t i = 0; i < children_.size() && (i == 0 || is_sparse); ++i) children_[i].append_null();
    if (!children_.empty()) append_union(0);
    return;
  }
  if (has_bitmap()) {
    if (null_count_ == 0) start_validity();
    push_bit(validity_, false);
  }
  push_null_value();
  ++null_count_;
  ++length_;
}

const ColumnView& ColumnBuilder::view() const {
  if (parts_ == nullptr || parts_.use_count() > 1) parts_ = std::make_shared<Parts>();
  ColumnView& view = parts_->view;
  view = {};
  view.layout = field_->dictionary ? Layout::kDictionary : field_->layout;
  view.unit = field_->unit;
  view.byte_width = field_->dictionary ? static_cast<int32_t>(width_) : field_->byte_width;
  view.length = length_;
  view.null_count = null_count_;
  view.validity = has_bitmap() && null_count_ > 0 ? validity_.data() : nullptr;
  view.values = values_.data();
  view.data = reinterpret_cast<const char*>(data_.data());
  view.data_size = data_.size();
  if (form_ == Form::kViews && data_.size() > 0) {
    parts_->variadic = view.data;
    parts_->variadic_size = data_.size();
    view.variadic = &parts_->variadic;
    view.variadic_sizes = &parts_->variadic_size;
    view.variadic_count = 1;
  }
  parts_->children.clear();
  for (const ColumnBuilder& child : children_) parts_->children.push_back(child.view());
  view.children = parts_->children.data();
  view.child_count = static_cast<int32_t>(parts_->children.size());
  return view;
}

int64_t ColumnBuilder::memory_bytes() const {
  int64_t bytes = validity_.size() + values_.size() + data_.size();
  for (const ColumnBuilder& child : children_) bytes += child.memory_bytes();
  return bytes;
}

void ColumnBuilder::truncate_runs(int64_t rows) {
  ColumnBuilder& ends = children_[0];
  const auto end_of = [&](int64_t run) {
    int64_t end = 0;
    std::memcpy(&end, ends.values_.data() + run * ends.width_, static_cast<size_t>(ends.width_));
    return end;
  };
  int64_t runs = 0;
  while (runs < ends.length() && (runs == 0 ? 0 : end_of(runs - 1)) < rows) ++runs;
  ends.truncate(runs);
  children_[1].truncate(runs);
  if (runs > 0) std::memcpy(ends.values_.data() + (runs - 1) * ends.width_, &rows, static_cast<size_t>(ends.width_));
}

namespace {

void cut_bits(ByteBuffer& bits, int64_t rows) {
  bits.truncate((rows + 7) / 8);
  if (rows & 7) bits.data()[rows >> 3] &= static_cast<uint8_t>((1u << (rows & 7)) - 1);
}

/// How many bytes of the data buffer the first `rows` views refer to: texts lie in the order of their rows.
int64_t view_bytes(const uint8_t* views, int64_t rows) {
  for (int64_t row = rows - 1; row >= 0; --row) {
    const auto view = load_at<TextView>(views, row);
    if (view.length > kInlineBytes) return int64_t{view.offset} + view.length;
  }
  return 0;
}

}  // namespace

void ColumnBuilder::truncate_values(int64_t rows) {
  switch (form_) {
    case Form::kBits: cut_bits(values_, rows); break;
    case Form::kFixed: values_.truncate(rows * width_); break;
    case Form::kViews:
      values_.truncate(rows * width_);
      data_.truncate(view_bytes(values_.data(), rows));
      break;
    case Form::kOffsets:
      data_.truncate(offset_at(rows));
      values_.truncate((rows + 1) * width_);
      break;
    case Form::kListOffsets:
      children_[0].truncate(offset_at(rows));
      values_.truncate((rows + 1) * width_);
      break;
    case Form::kListViews: {
      const int64_t last = rows - 1;
      int64_t end = 0;
      if (rows > 0 && width_ == sizeof(int32_t))
        end = int64_t{load_at<int32_t>(values_.data(), last)} + load_at<int32_t>(data_.data(), last);
      else if (rows > 0)
        end = load_at<int64_t>(values_.data(), last) + load_at<int64_t>(data_.data(), last);
      children_[0].truncate(end);
      values_.truncate(rows * width_);
      data_.truncate(rows * width_);
      break;
    }
    case Form::kFixedList: children_[0].truncate(rows * field_->byte_width); break;
    case Form::kStruct:
      for (ColumnBuilder& child : children_) child.truncate(rows);
      break;
    case Form::kUnion:
      if (field_->layout == Layout::kSparseUnion) {
        for (ColumnBuilder& child : children_) child.truncate(rows);
      } else {
        for (size_t i = 0; i < children_.size(); ++i) {
          int64_t kept = 0;
          for (int64_t row = 0; row < rows; ++row)
            kept += load_at<int8_t>(values_.data(), row) == static_cast<int8_t>(field_->type_ids[i]);
          children_[i].truncate(kept);
        }
        data_.truncate(rows * static_cast<int64_t>(sizeof(int32_t)));
      }
      values_.truncate(rows);
      break;
    case Form::kRunEnds: truncate_runs(rows); break;
    case Form::kNone: break;
  }
}

void ColumnBuilder::truncate(int64_t rows) {
  if (form_ == Form::kNone) {
    null_count_ = rows;
  } else if (null_count_ > 0) {
    for (int64_t row = rows; row < length_; ++row) null_count_ -= !(validity_.data()[row >> 3] >> (row & 7) & 1);
    cut_bits(validity_, rows);
    if (null_count_ == 0) validity_.clear();
  }
  length_ = rows;
  truncate_values(rows);
}

void ColumnBuilder::clear() {
  length_ = null_count_ = 0;
  validity_.clear();
  values_.clear();
  data_.clear();
  if (form_ == Form::kOffsets || form_ == Form::kListOffsets) push_offset(0);
  for (ColumnBuilder& child : children_) child.clear();
}

}  // namespace strom::columnar
