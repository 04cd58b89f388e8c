// Tuples of PostgreSQL heap pages to columns in register layout. The bytes may be damaged, and on rare occasions be
// replaced while they are read (see docs/dev/heap.md): whatever is read from them is loaded once and checked before use. Used by
// pg/source, on engine threads; calls nothing of PostgreSQL.
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
  kInt2,     // to Phys::kI32
  kWord4,    // the bytes as they are: int4, date, float4
  kWord8,    // int8, timestamps, float8
  kWord16,
  kNumeric,  // to Phys::kI128 at a scale
  kText,     // to a StrView into the tuple
};

/// A column that is wanted.
struct WantedColumn {
  int attribute;  // from 0
  Storage storage;
  int scale;  // kNumeric
};

inline constexpr uint8_t kNullValue = 1;   // as in engine/block
inline constexpr uint8_t kValueOfHost = 2;  // compressed, out of line, or a numeric without a place in 128 bits

/// Where the values of a column go: room for as many rows as are decoded.
struct ColumnOut {
  void* values;
  uint8_t* flags;  // one byte a row; written only when `has_flags` becomes true
  bool has_flags;
};

/// One tuple: a tuple header and what follows, `size` bytes.
struct TupleRef {
  const uint8_t* bytes;
  uint32_t size;
};

/// Decodes tuples of one table into the columns that are wanted. Immutable, for any number of threads.
class TupleDecoder {
 public:
  TupleDecoder(std::vector<AttributeLayout> attributes, std::vector<WantedColumn> wanted);

  /// Decodes `count` tuples into out[i] for the i-th wanted column. Returns -1, or the index of a tuple whose bytes
  /// contradict the format. `scratch`: room for `count` pointers.
  int64_t decode(const TupleRef* tuples, int64_t count, ColumnOut* out, const uint8_t** scratch) const;

  const std::vector<WantedColumn>& wanted() const { return wanted_; }

 private:
  void decode_prefix(const uint8_t* const* data, int64_t count, ColumnOut* out) const;
  template <bool kMayBeNull>
  bool walk(const TupleRef& tuple, int64_t row, int64_t count, ColumnOut* out, size_t first) const;

  std::vector<AttributeLayout> attributes_;  // up to the last that is wanted
  std::vector<WantedColumn> wanted_;
  std::vector<int> wanted_of_attribute_;  // index into wanted_, or -1
  std::vector<uint32_t> prefix_offsets_;  // of the attributes before the first varlena, and of their end
  uint32_t prefix_size_ = 0;
  int first_walked_ = 0;  // the first varlena
  std::vector<uint8_t> zeros_;  // stands for the prefix of tuples that have to be walked
};

/// Bytes of one value in ColumnOut::values.
constexpr int storage_width(Storage storage) {
  switch (storage) {
    case Storage::kBool: return 1;
    case Storage::kInt2:
    case Storage::kWord4: return 4;
    case Storage::kWord8: return 8;
    case Storage::kWord16:
    case Storage::kNumeric:
    case Storage::kText: return 16;
  }
  return 0;
}

}  // namespace strom::format::heap
