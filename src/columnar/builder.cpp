// See builder.hpp.
#include "columnar/builder.hpp"

#include <cstring>
#include <limits>

#include "columnar/layout.hpp"

namespace strom::columnar {

namespace {

void set_bit(std::vector<uint8_t>& bitmap, int64_t row, bool value) {
  if ((row & 7) == 0) bitmap.push_back(0);
  bitmap.back() = static_cast<uint8_t>(bitmap.back() | (value << (row & 7)));
}

}  // namespace

ColumnBuilder::ColumnBuilder(const Field& field) : field_(field) { clear(); }

void ColumnBuilder::push_validity_bit(bool valid) {
  if (validity_.empty() && length_ > 0) {  // the first null: all rows before are valid
    validity_.assign(static_cast<size_t>((length_ + 7) / 8), 0xFF);
    if (length_ & 7) validity_.back() = static_cast<uint8_t>((1u << (length_ & 7)) - 1);
  }
  set_bit(validity_, length_, valid);
}

void ColumnBuilder::push_offset() {
  const auto push = [this](auto offset) {
    values_.resize(values_.size() + sizeof(offset));
    std::memcpy(values_.data() + values_.size() - sizeof(offset), &offset, sizeof(offset));
  };
  if (field_.layout == Layout::kUtf8) {
    push(static_cast<int32_t>(data_.size()));
  } else {
    push(static_cast<int64_t>(data_.size()));
  }
}

void ColumnBuilder::append_bool(bool value) {
  push_valid(true);
  set_bit(values_, length_, value);
  ++length_;
}

bool ColumnBuilder::append_bytes(std::string_view bytes) {
  if (field_.layout == Layout::kFixedBinary) {
    const auto width = static_cast<size_t>(field_.byte_width);
    if (bytes.size() > width) return false;
    push_valid(true);
    values_.insert(values_.end(), bytes.begin(), bytes.end());
    values_.insert(values_.end(), width - bytes.size(), static_cast<uint8_t>(' '));
  } else {
    constexpr size_t kMaxUtf8 = std::numeric_limits<int32_t>::max();
    if (field_.layout == Layout::kUtf8 && bytes.size() > kMaxUtf8 - data_.size()) return false;
    push_valid(true);
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    push_offset();
  }
  ++length_;
  return true;
}

void ColumnBuilder::append_null() {
  push_valid(false);
  if (field_.layout == Layout::kBool) {
    set_bit(values_, length_, false);
  } else if (has_offsets(field_.layout)) {
    push_offset();
  } else {
    values_.insert(values_.end(), static_cast<size_t>(value_width(field_.layout, field_.byte_width)), 0);
  }
  ++length_;
  ++null_count_;
}

int64_t ColumnBuilder::memory_bytes() const {
  return static_cast<int64_t>(validity_.size() + values_.size() + data_.size());
}

ColumnView ColumnBuilder::view() const {
  ColumnView view;
  view.layout = field_.layout;
  view.unit = field_.unit;
  view.byte_width = field_.byte_width;
  view.length = length_;
  view.null_count = null_count_;
  view.validity = null_count_ > 0 ? validity_.data() : nullptr;
  view.values = values_.data();
  view.data = data_.data();
  view.data_size = static_cast<int64_t>(data_.size());
  return view;
}

void ColumnBuilder::clear() {
  length_ = null_count_ = 0;
  validity_.clear();
  values_.clear();
  data_.clear();
  if (has_offsets(field_.layout)) push_offset();
}

}  // namespace strom::columnar
