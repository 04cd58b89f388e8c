#include "format/heap/tuple.hpp"

#include <algorithm>
#include <cstring>

namespace strom::format::heap {

namespace {

using columnar::heap::aligned_up;
using columnar::heap::Item;
using columnar::heap::kBitmapOffset;
using columnar::heap::read_header;
using columnar::heap::read_item;
using columnar::heap::read_varlena;
using columnar::heap::TupleHeader;
using columnar::heap::Varlena;
using columnar::heap::with_fixed;

constexpr uint32_t kCacheLine = 64;
/// Tuples that stay in the first-level cache while one piece after another is read from them.
constexpr int kBlockRows = 256;

void set_flag(ColumnOut* out, int64_t row, int64_t capacity, uint8_t flag) {
  if (!out->has_flags) std::memset(out->flags, 0, static_cast<size_t>(capacity));
  out->has_flags = true;
  out->flags[row] = flag;
}

template <class T>
T* at(const ColumnOut& out, int64_t row) {
  return static_cast<T*>(out.values) + row;
}

void store_fixed(Storage storage, const uint8_t* bytes, const ColumnOut& out, int64_t row) {
  with_fixed(storage, [&](auto convert) { *at<decltype(convert(bytes))>(out, row) = convert(bytes); });
}

void store_null(const WantedColumn& column, ColumnOut* out, int64_t row, int64_t capacity, uint8_t flag) {
  const auto width = static_cast<size_t>(storage_width(column.storage));
  std::memset(static_cast<uint8_t*>(out->values) + static_cast<size_t>(row) * width, 0, width);
  set_flag(out, row, capacity, flag);
}

void store_missing(const WantedColumn& column, ColumnOut* out, int64_t row, int64_t capacity) {
  if (column.missing_flag != 0) return store_null(column, out, row, capacity, column.missing_flag);
  const auto width = static_cast<size_t>(storage_width(column.storage));
  std::memcpy(static_cast<uint8_t*>(out->values) + static_cast<size_t>(row) * width, column.missing, width);
}

void store_varlena(const WantedColumn& column, const Varlena& value, ColumnOut* out, int64_t row, int64_t capacity) {
  const auto* payload = reinterpret_cast<const char*>(value.payload);
  if (payload == nullptr || (value.packed && column.storage != Storage::kText)) {
    store_null(column, out, row, capacity, kValueOfHost);
  } else {
    *at<registry::StrView>(*out, row) = {payload, static_cast<int64_t>(value.size)};
    if (!value.packed) return;
    set_flag(out, row, capacity, kPackedValue);
    out->has_packed = true;
  }
}

}  // namespace

/// Tuples of a block without nulls and with all wanted attributes, and the position up to which each has been read.
struct TupleDecoder::Regular {
  const uint8_t* at[kBlockRows];
  const uint8_t* end[kBlockRows];
  uint32_t row[kBlockRows];  // in the output
  int count = 0;

  bool is_dense() const { return count > 0 && row[count - 1] - row[0] + 1 == static_cast<uint32_t>(count); }
};

/// Fetches a page while another is decoded. It goes in ascending order of addresses, which the hardware recognizes and
/// prefetches. The tuples themselves are in the reverse order.
struct TupleDecoder::Prefetch {
  const uint8_t* at;
  const uint8_t* end;

  void lines(int count) {
    for (int i = 0; i < count && at < end; ++i, at += kCacheLine) __builtin_prefetch(at);
  }
};

TupleDecoder::TupleDecoder(uint32_t page_size, std::vector<AttributeLayout> attributes,
                           std::vector<WantedColumn> wanted)
    : page_size_(page_size), attributes_(std::move(attributes)), wanted_(std::move(wanted)) {
  int last = -1;
  for (const WantedColumn& column : wanted_) last = std::max(last, column.attribute);
  attributes_.resize(static_cast<size_t>(last) + 1);
  wanted_of_attribute_.assign(attributes_.size(), -1);
  for (size_t i = 0; i < wanted_.size(); ++i)
    wanted_of_attribute_[static_cast<size_t>(wanted_[i].attribute)] = static_cast<int>(i);
  for (size_t a = 0; a < attributes_.size(); ++a) add_to_pieces(a);
}

// A fixed attribute joins the previous piece unless its place there would depend on where the piece begins.
void TupleDecoder::add_to_pieces(size_t attribute) {
  const AttributeLayout& layout = attributes_[attribute];
  const bool fixed = layout.length > 0;
  const bool joins = fixed && !pieces_.empty() && !pieces_.back().is_varlena &&
                     (pieces_.size() == 1 || layout.alignment <= pieces_.back().alignment);
  if (!joins) pieces_.push_back({!fixed, layout.alignment, 0, {}});
  Piece& piece = pieces_.back();
  uint32_t offset = 0;
  if (fixed) {
    offset = static_cast<uint32_t>(aligned_up(piece.size, layout.alignment));
    piece.size = offset + static_cast<uint32_t>(layout.length);
  }
  if (const int index = wanted_of_attribute_[attribute]; index >= 0)
    piece.columns.push_back({static_cast<size_t>(index), offset});
}

namespace {

/// `distance`: of the value from the position up to which the rows have been read.
template <class Rows>
void gather_column(Storage storage, const Rows& rows, int64_t distance, const ColumnOut& out) {
  with_fixed(storage, [&](auto convert) {
    auto* values = at<decltype(convert(rows.at[0]))>(out, 0);
    if (rows.is_dense()) {
      values += rows.row[0];
      for (int i = 0; i < rows.count; ++i) values[i] = convert(rows.at[i] + distance);
    } else {
      for (int i = 0; i < rows.count; ++i) values[rows.row[i]] = convert(rows.at[i] + distance);
    }
  });
}

}  // namespace

// Reads a piece of fixed attributes from all rows. Returns -1, or the index of a row that is too short.
int TupleDecoder::read_fixed(const Piece& piece, Regular* rows, ColumnOut* out) const {
  int64_t too_short = 0;  // negative: a row is too short
  for (int i = 0; i < rows->count; ++i) {
    rows->at[i] = aligned_up(rows->at[i], piece.alignment) + piece.size;
    too_short |= rows->end[i] - rows->at[i];
  }
  if (too_short < 0) {
    int i = 0;
    while (rows->end[i] >= rows->at[i]) ++i;
    return i;
  }
  for (const auto& column : piece.columns)
    gather_column(wanted_[column.index].storage, *rows, int64_t{column.offset} - piece.size, out[column.index]);
  return -1;
}

// The same for a varlena.
int TupleDecoder::read_varlenas(const Piece& piece, Regular* rows, int64_t capacity, ColumnOut* out) const {
  const WantedColumn* wanted = piece.columns.empty() ? nullptr : &wanted_[piece.columns[0].index];
  ColumnOut* column = wanted == nullptr ? nullptr : &out[piece.columns[0].index];
  for (int i = 0; i < rows->count; ++i) {
    Varlena value;
    if (!read_varlena(&rows->at[i], rows->end[i], piece.alignment, &value)) return i;
    if (column != nullptr) store_varlena(*wanted, value, column, rows->row[i], capacity);
    rows->at[i] += value.total;
  }
  return -1;
}

// Reads attribute by attribute, checking the null bitmap.
bool TupleDecoder::walk(const Tuple& tuple, int64_t row, int64_t capacity, ColumnOut* out) const {
  const TupleHeader header = read_header(tuple.bytes);
  const uint8_t* bitmap = tuple.bytes + kBitmapOffset;
  if (!header.is_inside(tuple.size)) return false;
  if (header.has_nulls && kBitmapOffset + (header.attributes + 7) / 8 > header.data) return false;
  const uint8_t* at = tuple.bytes + header.data;
  const uint8_t* end = tuple.bytes + tuple.size;
  for (size_t a = 0; a < attributes_.size(); ++a) {
    const int index = wanted_of_attribute_[a];
    ColumnOut* column = index < 0 ? nullptr : &out[index];
    if (a >= header.attributes) {
      if (column != nullptr) store_missing(wanted_[static_cast<size_t>(index)], column, row, capacity);
      continue;
    }
    if (header.has_nulls && (bitmap[a >> 3] >> (a & 7) & 1) == 0) {
      if (column != nullptr) store_null(wanted_[static_cast<size_t>(index)], column, row, capacity, kNullValue);
      continue;
    }
    const AttributeLayout& attribute = attributes_[a];
    if (attribute.length > 0) {
      at = aligned_up(at, attribute.alignment);
      if (end - at < attribute.length) return false;
      if (column != nullptr) store_fixed(wanted_[static_cast<size_t>(index)].storage, at, *column, row);
      at += attribute.length;
    } else {
      Varlena value;
      if (!read_varlena(&at, end, attribute.alignment, &value)) return false;
      if (column != nullptr) store_varlena(wanted_[static_cast<size_t>(index)], value, column, row, capacity);
      at += value.total;
    }
  }
  return true;
}

PageRows TupleDecoder::decode_items(const PageRef& page, int begin, int end, Prefetch* prefetch, int64_t first_row,
                                    int64_t capacity, uint16_t* numbers, ColumnOut* out) const {
  Regular rows;
  int count = 0;
  int64_t row = first_row;
  // Copies everything that the loop needs: the compiler cannot keep what pointers lead to in registers.
  const auto attributes = static_cast<uint32_t>(attributes_.size());
  const uint32_t page_size = page_size_;
  const uint8_t* const bytes = page.bytes;
  const uint16_t* const chosen = page.numbers;
  const int lines = static_cast<int>(page_size / kCacheLine) / page.count + 1;
  Prefetch ahead = *prefetch;
  for (int i = begin; i < end; ++i) {
    ahead.lines(lines);
    const auto number = chosen == nullptr ? static_cast<uint16_t>(i + 1) : chosen[i];
    const Item item = read_item(bytes, number);
    if (!item.is_tuple()) continue;
    if (!item.is_inside(page_size)) return {0, number};
    const Tuple tuple{bytes + item.offset(), item.size()};
    const TupleHeader header = read_header(tuple.bytes);
    if (!header.has_nulls && header.attributes >= attributes && header.is_inside(tuple.size)) {
      rows.at[count] = tuple.bytes + header.data;
      rows.end[count] = tuple.bytes + tuple.size;
      rows.row[count++] = static_cast<uint32_t>(row);
    } else if (!walk(tuple, row, capacity, out)) {
      return {0, number};
    }
    numbers[row++] = number;
  }
  *prefetch = ahead;
  rows.count = count;
  for (const Piece& piece : pieces_) {
    const int bad = piece.is_varlena ? read_varlenas(piece, &rows, capacity, out) : read_fixed(piece, &rows, out);
    if (bad >= 0) return {0, numbers[rows.row[bad]]};
  }
  return {row - first_row, 0};
}

PageRows TupleDecoder::count_tuples(const PageRef& page, uint16_t* numbers) const {
  int64_t rows = 0;
  for (int i = 0; i < page.count; ++i) {
    const auto number = page.numbers == nullptr ? static_cast<uint16_t>(i + 1) : page.numbers[i];
    numbers[rows] = number;
    rows += read_item(page.bytes, number).is_tuple();
  }
  return {rows, 0};
}

PageRows TupleDecoder::decode(const PageRef& page, const uint8_t* next_page, int64_t first_row, int64_t capacity,
                              uint16_t* numbers, ColumnOut* out) const {
  if (wanted_.empty()) return count_tuples(page, numbers + first_row);
  Prefetch prefetch{next_page, next_page == nullptr ? nullptr : next_page + page_size_};
  int64_t row = first_row;
  for (int begin = 0; begin < page.count; begin += kBlockRows) {
    const int end = std::min<int>(begin + kBlockRows, page.count);
    const PageRows some = decode_items(page, begin, end, &prefetch, row, capacity, numbers, out);
    if (some.bad_item != 0) return some;
    row += some.rows;
  }
  return {row - first_row, 0};
}

void TupleDecoder::prefetch(const uint8_t* page) const {
  if (!wanted_.empty()) Prefetch{page, page + page_size_}.lines(static_cast<int>(page_size_ / kCacheLine));
}

}  // namespace strom::format::heap
