// A page (src/include/storage/bufpage.h) begins with 24 bytes; item pointers of 32 bits follow (itemid.h, little-endian): 15 bits of
// offset, 2 bits of state (1: a tuple), 15 bits of size. Tuple header (src/include/access/htup_details.h): 18 bytes of transaction ids and position, 16 bits of which 11 count the
// attributes, 16 bits of flags, one byte with the offset of the data, then the null bitmap. A varlena (src/include/varatt.h,
// little-endian): a first byte with its lowest bit set begins a one-byte header, 1 alone a pointer to a value stored out of line;
// otherwise four bytes, whose lowest two bits are 00 for plain and 10 for compressed. Padding before a four-byte header is 0.
#include "format/heap/tuple.hpp"

#include <algorithm>
#include <cstring>

#include "format/heap/numeric.hpp"

namespace strom::format::heap {

namespace {

constexpr uint32_t kCountOffset = 18, kMaskOffset = 20, kDataOffset = 22, kBitmapOffset = 23;
constexpr uint16_t kCountMask = 0x07FF, kHasNulls = 0x0001;
constexpr uint32_t kOutOfLineSize = 18;
constexpr uint32_t kItemsOffset = 24, kItemIsTuple = 1, kTupleAlignment = 8;
constexpr uint32_t kCacheLine = 64;
/// Tuples that stay in the first-level cache while piece after piece is read from them.
constexpr int kBlockRows = 256;

template <class T>
T load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// Exactly one load: what was checked is what is used.
template <class T>
T load_once(const uint8_t* aligned) {
  return *reinterpret_cast<const volatile T*>(aligned);
}

uint32_t aligned(uint32_t offset, uint32_t alignment) { return (offset + alignment - 1) & ~(alignment - 1); }

struct Header {
  uint32_t attributes, data;
  bool has_nulls;
};

Header read_header(const uint8_t* tuple) {
  return {static_cast<uint32_t>(load_once<uint16_t>(tuple + kCountOffset)) & kCountMask, load_once<uint8_t>(tuple + kDataOffset),
          (load_once<uint16_t>(tuple + kMaskOffset) & kHasNulls) != 0};
}

/// A varlena: its payload, or none when PostgreSQL has to read it.
struct Varlena {
  const uint8_t* payload;
  uint32_t size, total;
};

/// The varlena at `offset`, moved behind its padding. False when it leads out of the `available` bytes.
bool read_varlena(const uint8_t* data, uint32_t available, uint32_t alignment, uint32_t* offset, Varlena* value) {
  if (*offset >= available) return false;
  uint8_t first = load_once<uint8_t>(data + *offset);
  if (first == 0) {
    *offset = aligned(*offset, alignment);
    if (*offset >= available) return false;
    first = load_once<uint8_t>(data + *offset);
  }
  const uint8_t* at = data + *offset;
  if (first == 1) {
    *value = {nullptr, 0, kOutOfLineSize};
  } else if ((first & 1) != 0) {
    const uint32_t total = first >> 1;
    *value = {at + 1, total - 1, total};
  } else {
    if (available - *offset < 4) return false;
    const uint32_t word = load<uint32_t>(at);
    const uint32_t total = word >> 2;
    if (total < 4) return false;
    *value = (word & 3) == 0 ? Varlena{at + 4, total - 4, total} : Varlena{nullptr, 0, total};
  }
  return value->total <= available - *offset;
}

void set_flag(ColumnOut* out, int64_t row, int64_t capacity, uint8_t flag) {
  if (!out->has_flags) std::memset(out->flags, 0, static_cast<size_t>(capacity));
  out->has_flags = true;
  out->flags[row] = flag;
}

template <class T>
T* at(const ColumnOut& out, int64_t row) {
  return static_cast<T*>(out.values) + row;
}

/// f(convert), where convert(bytes) is the register value of a stored one of fixed size.
template <class F>
void with_fixed(Storage storage, F&& f) {
  switch (storage) {
    case Storage::kBool: f([](const uint8_t* bytes) { return uint8_t{load<uint8_t>(bytes) != 0}; }); break;
    case Storage::kInt2: f([](const uint8_t* bytes) { return int32_t{load<int16_t>(bytes)}; }); break;
    case Storage::kWord4: f([](const uint8_t* bytes) { return load<uint32_t>(bytes); }); break;
    case Storage::kWord8: f([](const uint8_t* bytes) { return load<uint64_t>(bytes); }); break;
    default: f([](const uint8_t* bytes) { return load<__int128>(bytes); }); break;
  }
}

void store_fixed(Storage storage, const uint8_t* bytes, const ColumnOut& out, int64_t row) {
  with_fixed(storage, [&](auto convert) { *at<decltype(convert(bytes))>(out, row) = convert(bytes); });
}

void store_null(const WantedColumn& column, ColumnOut* out, int64_t row, int64_t capacity, uint8_t flag) {
  const auto width = static_cast<size_t>(storage_width(column.storage));
  std::memset(static_cast<uint8_t*>(out->values) + static_cast<size_t>(row) * width, 0, width);
  set_flag(out, row, capacity, flag);
}

void store_varlena(const WantedColumn& column, const Varlena& value, ColumnOut* out, int64_t row, int64_t capacity) {
  const auto* payload = reinterpret_cast<const char*>(value.payload);
  if (payload == nullptr) {
    store_null(column, out, row, capacity, kValueOfHost);
  } else if (column.storage == Storage::kText) {
    *at<registry::StrView>(*out, row) = {payload, static_cast<int64_t>(value.size)};
  } else {
    const auto size = static_cast<int>(value.size);
    __int128* to = at<__int128>(*out, row);
    if (column.storage == Storage::kDecimal ? numeric_to_decimal(payload, size, to)
                                            : numeric_to_int128(payload, size, column.scale, to))
      return;
    store_null(column, out, row, capacity, kValueOfHost);
  }
}

}  // namespace

/// Tuples of a block that have no nulls and all wanted attributes: where each is, and how far it has been read.
struct TupleDecoder::Regular {
  const uint8_t* data[kBlockRows];
  uint32_t available[kBlockRows], offset[kBlockRows];
  uint32_t row[kBlockRows];  // in the output
  int count = 0;
};

/// Fetches a page while another is decoded: in the order of addresses, which the hardware recognizes and runs ahead of.
/// Tuples themselves lie in the reverse order.
struct TupleDecoder::Prefetch {
  Prefetch(const uint8_t* page, uint32_t size, int steps)
      : page_(page), size_(page == nullptr ? 0 : size), step_(size_ / static_cast<uint32_t>(std::max(steps, 1)) + 1) {}

  void step() {
    goal_ += step_;
    for (; at_ < goal_ && at_ < size_; at_ += kCacheLine) __builtin_prefetch(page_ + at_);
  }

 private:
  const uint8_t* page_;
  uint32_t size_, step_, at_ = 0, goal_ = 0;
};

TupleDecoder::TupleDecoder(uint32_t page_size, std::vector<AttributeLayout> attributes, std::vector<WantedColumn> wanted)
    : page_size_(page_size), attributes_(std::move(attributes)), wanted_(std::move(wanted)) {
  int last = -1;
  for (const WantedColumn& column : wanted_) last = std::max(last, column.attribute);
  attributes_.resize(static_cast<size_t>(last + 1));
  wanted_of_attribute_.assign(attributes_.size(), -1);
  for (size_t i = 0; i < wanted_.size(); ++i) wanted_of_attribute_[static_cast<size_t>(wanted_[i].attribute)] = static_cast<int>(i);
  for (size_t a = 0; a < attributes_.size(); ++a) add_to_pieces(a);
}

// A fixed attribute joins the piece before it unless its place there would depend on where the piece begins.
void TupleDecoder::add_to_pieces(size_t attribute) {
  const AttributeLayout& layout = attributes_[attribute];
  const bool fixed = layout.length > 0;
  const bool joins = fixed && !pieces_.empty() && !pieces_.back().is_varlena &&
                     (pieces_.size() == 1 || layout.alignment <= pieces_.back().alignment);
  if (!joins) pieces_.push_back({!fixed, layout.alignment, 0, {}});
  Piece& piece = pieces_.back();
  uint32_t offset = 0;
  if (fixed) {
    offset = aligned(piece.size, layout.alignment);
    piece.size = offset + static_cast<uint32_t>(layout.length);
  }
  if (const int index = wanted_of_attribute_[attribute]; index >= 0) piece.columns.push_back({static_cast<size_t>(index), offset});
}

namespace {

template <class Rows>
void gather_column(Storage storage, const Rows& rows, uint32_t offset, const ColumnOut& out) {
  with_fixed(storage, [&](auto convert) {
    auto* values = at<decltype(convert(rows.data[0]))>(out, 0);
    for (int i = 0; i < rows.count; ++i) values[rows.row[i]] = convert(rows.data[i] + rows.offset[i] + offset);
  });
}

}  // namespace

// Moves all rows behind a piece of fixed attributes. Returns -1, or the index of a row that is too short.
int TupleDecoder::read_fixed(const Piece& piece, Regular* rows, ColumnOut* out) const {
  for (int i = 0; i < rows->count; ++i) {
    const uint32_t offset = aligned(rows->offset[i], piece.alignment);
    if (offset > rows->available[i] || piece.size > rows->available[i] - offset) return i;
    rows->offset[i] = offset;
  }
  for (const auto& column : piece.columns) gather_column(wanted_[column.index].storage, *rows, column.offset, out[column.index]);
  for (int i = 0; i < rows->count; ++i) rows->offset[i] += piece.size;
  return -1;
}

// The same for a varlena.
int TupleDecoder::read_varlenas(const Piece& piece, Regular* rows, int64_t capacity, ColumnOut* out) const {
  const WantedColumn* wanted = piece.columns.empty() ? nullptr : &wanted_[piece.columns[0].index];
  ColumnOut* column = wanted == nullptr ? nullptr : &out[piece.columns[0].index];
  for (int i = 0; i < rows->count; ++i) {
    Varlena value;
    if (!read_varlena(rows->data[i], rows->available[i], piece.alignment, &rows->offset[i], &value)) return i;
    if (column != nullptr) store_varlena(*wanted, value, column, rows->row[i], capacity);
    rows->offset[i] += value.total;
  }
  return -1;
}

// Attribute by attribute, with a look at the null bitmap.
bool TupleDecoder::walk(const Tuple& tuple, int64_t row, int64_t capacity, ColumnOut* out) const {
  const Header header = read_header(tuple.bytes);
  const uint8_t* bitmap = tuple.bytes + kBitmapOffset;
  if (header.data < kBitmapOffset || header.data > tuple.size) return false;
  if (header.has_nulls && kBitmapOffset + (header.attributes + 7) / 8 > header.data) return false;
  const uint8_t* data = tuple.bytes + header.data;
  const uint32_t available = tuple.size - header.data;
  uint32_t offset = 0;
  for (size_t a = 0; a < attributes_.size(); ++a) {
    const int index = wanted_of_attribute_[a];
    ColumnOut* column = index < 0 ? nullptr : &out[index];
    if (a >= header.attributes || (header.has_nulls && (bitmap[a >> 3] >> (a & 7) & 1) == 0)) {
      if (column != nullptr) store_null(wanted_[static_cast<size_t>(index)], column, row, capacity, kNullValue);
      continue;
    }
    const AttributeLayout& attribute = attributes_[a];
    if (attribute.length > 0) {
      offset = aligned(offset, attribute.alignment);
      const auto size = static_cast<uint32_t>(attribute.length);
      if (offset > available || size > available - offset) return false;
      if (column != nullptr) store_fixed(wanted_[static_cast<size_t>(index)].storage, data + offset, *column, row);
      offset += size;
    } else {
      Varlena value;
      if (!read_varlena(data, available, attribute.alignment, &offset, &value)) return false;
      if (column != nullptr) store_varlena(wanted_[static_cast<size_t>(index)], value, column, row, capacity);
      offset += value.total;
    }
  }
  return true;
}

namespace {

struct Item {
  uint32_t offset, size;
  bool is_tuple;
};

/// Item `number`, from 1.
Item read_item(const uint8_t* page, uint32_t number) {
  const uint32_t word = load_once<uint32_t>(page + kItemsOffset + (number - 1) * 4);
  return {word & 0x7FFF, word >> 17, (word >> 15 & 3) == kItemIsTuple};
}

bool is_inside(const Item& item, uint32_t page_size) {
  return item.offset + item.size <= page_size && item.size >= kBitmapOffset && item.offset % kTupleAlignment == 0;
}

}  // namespace

PageRows TupleDecoder::decode_items(const PageRef& page, int begin, int end, Prefetch* prefetch, int64_t first_row,
                                    int64_t capacity, uint16_t* numbers, ColumnOut* out) const {
  Regular rows;
  int64_t row = first_row;
  for (int i = begin; i < end; ++i) {
    prefetch->step();
    const auto number = page.numbers == nullptr ? static_cast<uint16_t>(i + 1) : page.numbers[i];
    const Item item = read_item(page.bytes, number);
    if (!item.is_tuple) continue;
    if (!is_inside(item, page_size_)) return {0, number};
    const Tuple tuple{page.bytes + item.offset, item.size};
    const Header header = read_header(tuple.bytes);
    const bool regular = !header.has_nulls && header.attributes >= attributes_.size() && header.data >= kBitmapOffset &&
                         header.data <= tuple.size;
    if (regular) {
      rows.data[rows.count] = tuple.bytes + header.data;
      rows.available[rows.count] = tuple.size - header.data;
      rows.offset[rows.count] = 0;
      rows.row[rows.count++] = static_cast<uint32_t>(row);
    } else if (!walk(tuple, row, capacity, out)) {
      return {0, number};
    }
    numbers[row++] = number;
  }
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
    rows += read_item(page.bytes, number).is_tuple;
  }
  return {rows, 0};
}

PageRows TupleDecoder::decode(const PageRef& page, const uint8_t* next_page, int64_t first_row, int64_t capacity,
                              uint16_t* numbers, ColumnOut* out) const {
  if (wanted_.empty()) return count_tuples(page, numbers + first_row);
  Prefetch prefetch(next_page, page_size_, page.count);
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
  if (!wanted_.empty()) Prefetch(page, page_size_, 1).step();
}

}  // namespace strom::format::heap
