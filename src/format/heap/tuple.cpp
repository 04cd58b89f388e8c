// Tuple header (src/include/access/htup_details.h): 18 bytes of transaction ids and position, 16 bits of which 11 count the
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
/// Rows whose tuples stay in the first-level cache while piece after piece is read from them.
constexpr int kBlockRows = 128;

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

void set_flag(ColumnOut* out, int64_t row, int64_t count, uint8_t flag) {
  if (!out->has_flags) std::memset(out->flags, 0, static_cast<size_t>(count));
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

void store_null(const WantedColumn& column, ColumnOut* out, int64_t row, int64_t count, uint8_t flag) {
  const auto width = static_cast<size_t>(storage_width(column.storage));
  std::memset(static_cast<uint8_t*>(out->values) + static_cast<size_t>(row) * width, 0, width);
  set_flag(out, row, count, flag);
}

void store_varlena(const WantedColumn& column, const Varlena& value, ColumnOut* out, int64_t row, int64_t count) {
  const auto* payload = reinterpret_cast<const char*>(value.payload);
  if (payload == nullptr) {
    store_null(column, out, row, count, kValueOfHost);
  } else if (column.storage == Storage::kText) {
    *at<registry::StrView>(*out, row) = {payload, static_cast<int64_t>(value.size)};
  } else if (!numeric_to_int128(payload, static_cast<int>(value.size), column.scale, at<__int128>(*out, row))) {
    store_null(column, out, row, count, kValueOfHost);
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

TupleDecoder::TupleDecoder(std::vector<AttributeLayout> attributes, std::vector<WantedColumn> wanted)
    : attributes_(std::move(attributes)), wanted_(std::move(wanted)) {
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

// Moves all rows behind a piece of fixed attributes. Returns -1, or a row that is too short.
int64_t TupleDecoder::read_fixed(const Piece& piece, Regular* rows, ColumnOut* out) const {
  for (int i = 0; i < rows->count; ++i) {
    const uint32_t offset = aligned(rows->offset[i], piece.alignment);
    if (offset > rows->available[i] || piece.size > rows->available[i] - offset) return rows->row[i];
    rows->offset[i] = offset;
  }
  for (const auto& column : piece.columns) gather_column(wanted_[column.index].storage, *rows, column.offset, out[column.index]);
  for (int i = 0; i < rows->count; ++i) rows->offset[i] += piece.size;
  return -1;
}

// The same for a varlena.
int64_t TupleDecoder::read_varlenas(const Piece& piece, Regular* rows, int64_t count, ColumnOut* out) const {
  const WantedColumn* wanted = piece.columns.empty() ? nullptr : &wanted_[piece.columns[0].index];
  ColumnOut* column = wanted == nullptr ? nullptr : &out[piece.columns[0].index];
  for (int i = 0; i < rows->count; ++i) {
    Varlena value;
    if (!read_varlena(rows->data[i], rows->available[i], piece.alignment, &rows->offset[i], &value)) return rows->row[i];
    if (column != nullptr) store_varlena(*wanted, value, column, rows->row[i], count);
    rows->offset[i] += value.total;
  }
  return -1;
}

// Attribute by attribute, with a look at the null bitmap.
bool TupleDecoder::walk(const TupleRef& tuple, int64_t row, int64_t count, ColumnOut* out) const {
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
      if (column != nullptr) store_null(wanted_[static_cast<size_t>(index)], column, row, count, kNullValue);
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
      if (column != nullptr) store_varlena(wanted_[static_cast<size_t>(index)], value, column, row, count);
      offset += value.total;
    }
  }
  return true;
}

int64_t TupleDecoder::decode_block(const TupleRef* tuples, int64_t begin, int64_t end, int64_t count, ColumnOut* out) const {
  Regular rows;
  for (int64_t row = begin; row < end; ++row) {
    __builtin_prefetch(tuples[std::min(row + kBlockRows, count - 1)].bytes);
    const TupleRef& tuple = tuples[row];
    if (tuple.size < kBitmapOffset) return row;
    const Header header = read_header(tuple.bytes);
    const bool regular = !header.has_nulls && header.attributes >= attributes_.size() && header.data >= kBitmapOffset &&
                         header.data <= tuple.size;
    if (regular) {
      rows.data[rows.count] = tuple.bytes + header.data;
      rows.available[rows.count] = tuple.size - header.data;
      rows.offset[rows.count] = 0;
      rows.row[rows.count++] = static_cast<uint32_t>(row);
    } else if (!walk(tuple, row, count, out)) {
      return row;
    }
  }
  for (const Piece& piece : pieces_) {
    const int64_t bad = piece.is_varlena ? read_varlenas(piece, &rows, count, out) : read_fixed(piece, &rows, out);
    if (bad >= 0) return bad;
  }
  return -1;
}

int64_t TupleDecoder::decode(const TupleRef* tuples, int64_t count, ColumnOut* out) const {
  for (size_t i = 0; i < wanted_.size(); ++i) out[i].has_flags = false;
  for (int64_t begin = 0; begin < count; begin += kBlockRows) {
    const int64_t bad = decode_block(tuples, begin, std::min(begin + kBlockRows, count), count, out);
    if (bad >= 0) return bad;
  }
  return -1;
}

}  // namespace strom::format::heap
