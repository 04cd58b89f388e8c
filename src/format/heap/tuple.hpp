// Tuples on PostgreSQL heap pages to columns in register layout. The bytes may be damaged, and on rare occasions be
// replaced while they are read (see docs/dev/heap.md): whatever is read from them is loaded once and checked before
// use. Used by pg/source, on engine threads; calls nothing of PostgreSQL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "registry/types.hpp"

namespace strom::format::heap {

/// How an attribute is stored: pg_attribute's attlen (-1 = varlena) and attalign (in bytes).
struct AttributeLayout {
  int16_t length;
  uint8_t alignment;
};

/// How a stored value becomes a register value.
enum class Storage : uint8_t {
  kBool,
  kInt2,   // to Phys::kI32
  kWord4,  // the bytes as they are: int4, date, float4
  kWord8,  // int8, timestamps, float8
  kWord16,
  kInt1,       // to Phys::kI32
  kHalf,       // float2: to Phys::kF32
  kUnsigned1,  // "char": to Phys::kI32
  kUnsigned4,  // oid: to Phys::kI64
  kMac6,       // to Phys::kI64, the first byte highest
  kMac8,       // the same with the highest bit inverted
  kWord12,     // timetz: to Phys::kI128, the last four bytes being 0
  kNumeric,    // to a StrView into the tuple, see base/stored_numeric.hpp
  kText,       // likewise
  kView,       // of fixed size: a StrView into the tuple, without its length
};

inline constexpr uint8_t kNullValue = 1;    // as in engine/block
inline constexpr uint8_t kValueOfHost = 2;  // out of line, or a compressed numeric
inline constexpr uint8_t kPackedValue = 4;  // a compressed text: its StrView is what inflate.hpp takes

/// A column that is wanted.
struct WantedColumn {
  int attribute;  // from 0
  Storage storage;
  // Of tuples that are older than the column: kNullValue, kValueOfHost, or 0 and the register value's bytes.
  uint8_t missing_flag = kNullValue;
  const void* missing = nullptr;
};

/// Where the values of a column go: room for as many rows as are decoded.
struct ColumnOut {
  void* values;
  uint8_t* flags;           // one byte a row; written only when `has_flags` becomes true
  bool has_flags;           // false before the first page
  bool has_packed = false;  // some flag is kPackedValue; likewise
};

/// One page, and which of its tuples to read.
struct PageRef {
  const uint8_t* bytes;     // TupleDecoder's page size of them, aligned to 8
  const uint16_t* numbers;  // of the items, from 1; null: the first `count` items as far as they are tuples
  uint16_t count;
};

/// What decoding a page gave.
struct PageRows {
  int64_t rows;
  uint16_t bad_item;  // 0, or the number of an item whose bytes contradict the format
};

/// Decodes tuples of one table into the columns that are wanted. Immutable, for any number of threads.
class TupleDecoder {
 public:
  /// `page_size`: PostgreSQL's BLCKSZ.
  TupleDecoder(uint32_t page_size, std::vector<AttributeLayout> attributes, std::vector<WantedColumn> wanted);

  /// Decodes a page's tuples into rows from `first_row` on of out[i] for the i-th wanted column, and their item numbers
  /// into `numbers` from there on. There is room for `capacity` rows. `next_page`: the page that will be read after
  /// this, fetched into the caches meanwhile; may be null.
  PageRows decode(const PageRef& page, const uint8_t* next_page, int64_t first_row, int64_t capacity, uint16_t* numbers,
                  ColumnOut* out) const;

  /// Fetches a page into the caches.
  void prefetch(const uint8_t* page) const;

  const std::vector<WantedColumn>& wanted() const { return wanted_; }

 private:
  struct PieceColumn {
    size_t index;     // in wanted_
    uint32_t offset;  // from the piece's begin
  };
  /// Consecutive attributes that are found together in a tuple without nulls: a varlena, or fixed ones at constant
  /// distances.
  struct Piece {
    bool is_varlena;
    uint8_t alignment;
    uint32_t size;  // of fixed ones
    std::vector<PieceColumn> columns;
  };
  struct Tuple {
    const uint8_t* bytes;
    uint32_t size;
  };
  struct Regular;
  struct Prefetch;

  void add_to_pieces(size_t attribute);
  int read_fixed(const Piece& piece, Regular* rows, ColumnOut* out) const;
  int read_varlenas(const Piece& piece, Regular* rows, int64_t capacity, ColumnOut* out) const;
  PageRows count_tuples(const PageRef& page, uint16_t* numbers) const;
  PageRows decode_items(const PageRef& page, int begin, int end, Prefetch* prefetch, int64_t first_row,
                        int64_t capacity, uint16_t* numbers, ColumnOut* out) const;
  bool walk(const Tuple& tuple, int64_t row, int64_t capacity, ColumnOut* out) const;

  uint32_t page_size_;
  std::vector<AttributeLayout> attributes_;  // up to the last that is wanted
  std::vector<WantedColumn> wanted_;
  std::vector<int> wanted_of_attribute_;  // index into wanted_, or -1
  std::vector<Piece> pieces_;
};

/// Bytes of one value in ColumnOut::values.
constexpr int storage_width(Storage storage) {
  switch (storage) {
    case Storage::kBool: return 1;
    case Storage::kInt2:
    case Storage::kInt1:
    case Storage::kHalf:
    case Storage::kUnsigned1:
    case Storage::kWord4: return 4;
    case Storage::kUnsigned4:
    case Storage::kMac6:
    case Storage::kMac8:
    case Storage::kWord8: return 8;
    case Storage::kWord12:
    case Storage::kWord16:
    case Storage::kNumeric:
    case Storage::kText:
    case Storage::kView: return 16;
  }
  return 0;
}

}  // namespace strom::format::heap
