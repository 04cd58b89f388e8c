// Decodes tuples on PostgreSQL heap pages to columns in register layout. The bytes may be damaged, and in rare cases
// change during the read (see docs/dev/heap.md): each word is loaded once and checked before use. Used by
// pg/table/heap, on engine threads; calls nothing of PostgreSQL. columnar/heap_page.hpp describes the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "columnar/heap_page.hpp"

namespace strom::format::heap {

using columnar::heap::AttributeLayout;
using columnar::heap::kNullValue;
using columnar::heap::kPackedValue;
using columnar::heap::kValueOfHost;
using columnar::heap::Storage;
using columnar::heap::storage_width;
using columnar::heap::WantedColumn;

/// The destination of a column's values, with room for all rows that are decoded.
struct ColumnOut {
  void* values;
  uint8_t* flags;           // one byte a row; written only when `has_flags` becomes true
  bool has_flags;           // false before the first page
  bool has_packed = false;  // some flag is kPackedValue; false before the first page
};

/// One page, and the tuples to read from it.
struct PageRef {
  const uint8_t* bytes;     // TupleDecoder's page size of them, aligned to 8
  const uint16_t* numbers;  // of the items, from 1; null: those of the first `count` items that are tuples
  uint16_t count;
};

/// The result of decoding a page.
struct PageRows {
  int64_t rows;
  uint16_t bad_item;  // 0, or the number of an item whose bytes contradict the format
};

/// Decodes tuples of one table into the wanted columns. Immutable, for any number of threads.
class TupleDecoder {
 public:
  /// `page_size`: PostgreSQL's BLCKSZ.
  TupleDecoder(uint32_t page_size, std::vector<AttributeLayout> attributes, std::vector<WantedColumn> wanted);

  /// Decodes a page's tuples into rows from `first_row` on of out[i] for the i-th wanted column, and their item numbers
  /// into `numbers`, from there on, too. There is room for `capacity` rows. `next_page`: the page that will be read
  /// next, which is fetched into the caches meanwhile; may be null.
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
  /// Consecutive attributes that are found together in a tuple without nulls: one varlena, or fixed attributes at
  /// constant distances.
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
  std::vector<AttributeLayout> attributes_;  // up to the last wanted one
  std::vector<WantedColumn> wanted_;
  std::vector<int> wanted_of_attribute_;  // index into wanted_, or -1
  std::vector<Piece> pieces_;
};

}  // namespace strom::format::heap
