#include "format/heap/column_image.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace strom::format::heap {

using base::int128;
using columnar::Layout;
using registry::StrView;

namespace {

constexpr int64_t kMostText = int64_t{8} << 20;  // bytes of a part
constexpr int64_t kPaddingRows = 64;             // that vector code may read behind the last row

constexpr int64_t aligned(int64_t size) { return (size + kImageAlignment - 1) / kImageAlignment * kImageAlignment; }
constexpr int64_t bitmap_bytes(int64_t rows) { return (rows + 7) / 8; }

int64_t values_bytes(const ImageShape& shape) {
  const int64_t rows = int64_t{shape.rows} + (shape.form == ImageForm::kText ? 1 : kPaddingRows);
  return aligned(rows * shape.width);
}

int64_t nulls_bytes(const ImageShape& shape) {
  if (!shape.has_nulls) return 0;
  const int64_t rows = shape.rows;
  return aligned(shape.form == ImageForm::kRegister ? rows + kPaddingRows : bitmap_bytes(rows));
}

template <class T>
bool all_fit(const std::vector<int128>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return values.empty() || (*low >= std::numeric_limits<T>::min() && *high <= std::numeric_limits<T>::max());
}

template <class To, class From>
void convert(const From* from, size_t count, uint8_t* to) {
  auto* out = reinterpret_cast<To*>(to);
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<To>(from[i]);
}

template <class T>
void keep_as(const std::vector<int128>& values, std::vector<uint8_t>* to) {
  to->resize(values.size() * sizeof(T));
  convert<T>(values.data(), values.size(), to->data());
}

}  // namespace

bool ColumnPart::take(const WantedColumn& column, int scale, const ColumnOut& out, int64_t rows) {
  rows_ = rows;
  if (!take_flags(out)) return false;
  const auto* views = static_cast<const StrView*>(out.values);
  if (column.storage == Storage::kNumeric) return take_numerics(scale, views);
  if (column.storage == Storage::kText) return take_texts(views);
  width_ = storage_width(column.storage);
  const auto* bytes = static_cast<const uint8_t*>(out.values);
  values_.assign(bytes, bytes + rows * width_);
  return true;
}

bool ColumnPart::take_flags(const ColumnOut& out) {
  if (!out.has_flags) return true;
  if (std::any_of(out.flags, out.flags + rows_, [](uint8_t flag) { return (flag & ~kNullValue) != 0; })) return false;
  flags_.assign(out.flags, out.flags + rows_);
  return true;
}

// Tries ordinary numbers first: they fit 64 bits and are read without branches.
bool ColumnPart::take_ordinary(const base::StoredNumericReader& reader, const StrView* from) {
  values_.resize(static_cast<size_t>(rows_) * sizeof(int64_t));
  auto* values = reinterpret_cast<int64_t*>(values_.data());
  bool all = true;
  int64_t low = 0, high = 0;
  for (int64_t i = 0; i < rows_; ++i) {
    int128 value = 0;
    const bool is_null = !flags_.empty() && flags_[static_cast<size_t>(i)] != 0;
    all &= is_null || reader.read_scaled(from[i].ptr, from[i].len, &value);
    values[i] = static_cast<int64_t>(value);
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  if (!all) return false;
  form_ = ImageForm::kDecimal64;
  width_ = sizeof(int64_t);
  if (low < std::numeric_limits<int32_t>::min() || high > std::numeric_limits<int32_t>::max()) return true;
  form_ = ImageForm::kDecimal32;
  width_ = sizeof(int32_t);
  auto* narrow = reinterpret_cast<int32_t*>(values_.data());
  for (int64_t i = 0; i < rows_; ++i) narrow[i] = static_cast<int32_t>(values[i]);
  values_.resize(static_cast<size_t>(rows_) * sizeof(int32_t));
  return true;
}

bool ColumnPart::take_numerics(int scale, const StrView* from) {
  const base::StoredNumericReader reader(scale);
  if (scale >= 0 && scale <= base::kOrdinaryScale && take_ordinary(reader, from)) return true;
  std::vector<int128> values(static_cast<size_t>(rows_));
  bool exact = true;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_null = !flags_.empty() && flags_[i] != 0;
    exact &= is_null || reader.read(from[i].ptr, from[i].len, &values[i]);
  }
  if (!exact) return false;
  width_ = sizeof(int128);
  if (scale != base::kOwnScale && all_fit<int64_t>(values)) {
    const bool narrow = all_fit<int32_t>(values);
    form_ = narrow ? ImageForm::kDecimal32 : ImageForm::kDecimal64;
    width_ = narrow ? 4 : 8;
  }
  switch (width_) {
    case 4: keep_as<int32_t>(values, &values_); break;
    case 8: keep_as<int64_t>(values, &values_); break;
    default: keep_as<int128>(values, &values_); break;
  }
  return true;
}

bool ColumnPart::take_texts(const StrView* from) {
  form_ = ImageForm::kText;
  width_ = sizeof(int32_t);
  const auto rows = static_cast<size_t>(rows_);
  const auto length_of = [&](size_t i) { return !flags_.empty() && flags_[i] != 0 ? 0 : from[i].len; };
  int64_t sum = 0;
  for (size_t i = 0; i < rows; ++i) sum += length_of(i);
  if (sum > kMostText) return false;
  values_.resize(rows * sizeof(int32_t));
  text_.resize(static_cast<size_t>(sum));
  auto* ends = reinterpret_cast<int32_t*>(values_.data());
  char* to = text_.data();
  for (size_t i = 0; i < rows; ++i) {
    const auto length = static_cast<size_t>(length_of(i));
    if (length > 0) std::memcpy(to, from[i].ptr, length);
    to += length;
    ends[i] = static_cast<int32_t>(to - text_.data());
  }
  return true;
}

bool fits_image(std::span<const ColumnPart* const> parts) {
  // For texts, which are the largest columns: fewer than 2^31 bytes, so that 32-bit offsets suffice.
  return static_cast<int64_t>(parts.size()) * kMostText <= std::numeric_limits<int32_t>::max();
}

int64_t image_bytes(const ImageShape& shape) {
  return values_bytes(shape) + nulls_bytes(shape) + aligned(shape.text_bytes);
}

columnar::ColumnView view_image(const ImageShape& shape, const uint8_t* image) {
  columnar::ColumnView view;
  const uint8_t* nulls = shape.has_nulls ? image + values_bytes(shape) : nullptr;
  view.length = shape.rows;
  view.values = image;
  if (shape.form == ImageForm::kRegister) {
    view.is_register = true;
    view.flags = nulls;
    return view;
  }
  view.validity = nulls;
  view.null_count = shape.has_nulls ? 1 : 0;  // or more: nobody asks for the number
  view.layout = shape.form == ImageForm::kText        ? Layout::kUtf8
                : shape.form == ImageForm::kDecimal32 ? Layout::kDecimal32
                                                      : Layout::kDecimal64;
  view.data = reinterpret_cast<const char*>(image + values_bytes(shape) + nulls_bytes(shape));
  view.data_size = shape.text_bytes;
  return view;
}

ImageWriter::ImageWriter(std::vector<const ColumnPart*> parts) : parts_(std::move(parts)) {
  for (const ColumnPart* part : parts_) {
    shape_.rows += static_cast<uint32_t>(part->rows_);
    shape_.has_nulls = shape_.has_nulls || !part->flags_.empty();
    shape_.text_bytes += static_cast<uint32_t>(part->text_.size());
    // The widest form can hold the others' values.
    if (part->width_ < shape_.width) continue;
    shape_.width = static_cast<uint8_t>(part->width_);
    shape_.form = part->form_;
  }
}

void ImageWriter::write(uint8_t* to) const {
  if (shape_.form == ImageForm::kText)
    write_texts(to);
  else
    write_values(to);
  if (shape_.has_nulls) write_nulls(to + values_bytes(shape_));
}

void ImageWriter::write_values(uint8_t* to) const {
  for (const ColumnPart* part : parts_) {
    const auto rows = static_cast<size_t>(part->rows_);
    if (rows == 0) continue;  // such a part may have no memory
    const auto* narrow = reinterpret_cast<const int32_t*>(part->values_.data());
    const auto* wide = reinterpret_cast<const int64_t*>(part->values_.data());
    if (part->width_ == shape_.width)
      std::memcpy(to, part->values_.data(), part->values_.size());
    else if (shape_.width == 8)
      convert<int64_t>(narrow, rows, to);
    else if (part->width_ == 4)
      convert<int128>(narrow, rows, to);
    else
      convert<int128>(wide, rows, to);
    to += rows * shape_.width;
  }
  std::memset(to, 0, kPaddingRows * shape_.width);
}

void ImageWriter::write_texts(uint8_t* to) const {
  auto* offsets = reinterpret_cast<int32_t*>(to);
  auto* text = reinterpret_cast<char*>(to + values_bytes(shape_) + nulls_bytes(shape_));
  int32_t begin = 0;
  *offsets++ = 0;
  for (const ColumnPart* part : parts_) {
    const auto* ends = reinterpret_cast<const int32_t*>(part->values_.data());
    for (int64_t i = 0; i < part->rows_; ++i) *offsets++ = begin + ends[i];
    if (!part->text_.empty()) std::memcpy(text + begin, part->text_.data(), part->text_.size());
    begin += static_cast<int32_t>(part->text_.size());
  }
}

void ImageWriter::write_nulls(uint8_t* to) const {
  const bool as_flags = shape_.form == ImageForm::kRegister;
  std::memset(to, 0, static_cast<size_t>(nulls_bytes(shape_)));
  int64_t row = 0;
  for (const ColumnPart* part : parts_) {
    for (int64_t i = 0; i < part->rows_; ++i, ++row) {
      const uint8_t flag = part->flags_.empty() ? 0 : part->flags_[static_cast<size_t>(i)];
      if (as_flags)
        to[row] = flag;
      else if (flag == 0)
        to[row >> 3] = static_cast<uint8_t>(to[row >> 3] | 1 << (row & 7));
    }
  }
}

// ---- Rows' places: number of rows, of pages, whether item numbers follow; first rows of the pages; item numbers. ----

namespace {

struct PlacesHead {
  uint32_t rows, pages;
  uint64_t has_numbers;
};

}  // namespace

void RowPlaces::add_page(const uint16_t* numbers, int64_t rows) {
  first_rows_.push_back(static_cast<uint32_t>(numbers_.size()));
  for (int64_t i = 0; i < rows; ++i) dense_ &= numbers[i] == i + 1;
  numbers_.insert(numbers_.end(), numbers, numbers + rows);
}

int64_t RowPlaces::bytes() const {
  const int64_t numbers = dense_ ? 0 : rows() * static_cast<int64_t>(sizeof(uint16_t));
  return static_cast<int64_t>(sizeof(PlacesHead)) + pages() * static_cast<int64_t>(sizeof(uint32_t)) + numbers;
}

void RowPlaces::write(uint8_t* to) const {
  const PlacesHead head{static_cast<uint32_t>(rows()), static_cast<uint32_t>(pages()), dense_ ? 0u : 1u};
  std::memcpy(to, &head, sizeof head);
  to += sizeof head;
  std::memcpy(to, first_rows_.data(), first_rows_.size() * sizeof(uint32_t));
  if (!dense_) std::memcpy(to + first_rows_.size() * sizeof(uint32_t), numbers_.data(), numbers_.size() * 2);
}

int64_t RowPlaces::rows(const uint8_t* places) { return reinterpret_cast<const PlacesHead*>(places)->rows; }

int64_t RowPlaces::pages(const uint8_t* places) { return reinterpret_cast<const PlacesHead*>(places)->pages; }

int64_t RowPlaces::first_row(const uint8_t* places, int64_t page) {
  return reinterpret_cast<const uint32_t*>(reinterpret_cast<const PlacesHead*>(places) + 1)[page];
}

void RowPlaces::write_tids(const uint8_t* places, uint32_t begin, int64_t* tids) {
  const auto* head = reinterpret_cast<const PlacesHead*>(places);
  const auto* first_rows = reinterpret_cast<const uint32_t*>(head + 1);
  const auto* numbers = reinterpret_cast<const uint16_t*>(first_rows + head->pages);
  for (uint32_t page = 0; page < head->pages; ++page) {
    const uint32_t end = page + 1 < head->pages ? first_rows[page + 1] : head->rows;
    const uint64_t block = uint64_t{begin + page} << columnar::heap::kItemBits;
    for (uint32_t row = first_rows[page]; row < end; ++row)
      tids[row] = static_cast<int64_t>(block | (head->has_numbers != 0 ? numbers[row] : row - first_rows[page] + 1));
  }
}

RowPlaces::ItemAddress RowPlaces::find(const uint8_t* places, int64_t row) {
  const auto* head = reinterpret_cast<const PlacesHead*>(places);
  const auto* first_rows = reinterpret_cast<const uint32_t*>(head + 1);
  const uint32_t* next = std::upper_bound(first_rows, first_rows + head->pages, static_cast<uint32_t>(row));
  const auto* numbers = reinterpret_cast<const uint16_t*>(first_rows + head->pages);
  const auto page = static_cast<uint32_t>(next - first_rows - 1);
  const auto number = static_cast<uint16_t>(row - first_rows[page] + 1);
  return {page, head->has_numbers != 0 ? numbers[row] : number};
}

}  // namespace strom::format::heap
