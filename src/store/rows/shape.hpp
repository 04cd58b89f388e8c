// The layout of a store table's memory: columns, limits and offsets. Every process that maps the memory computes the
// same layout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace strom::store::rows {

/// The form of a column's values in a chunk.
enum class Form : uint8_t {
  kFixed = 1,  // `width` bytes for each row, and a byte that says whether it is NULL
  kView = 2,   // 16 bytes for each row, Arrow's binary views: up to 12 bytes inline, else in the heap
};

inline constexpr uint32_t kViewBytes = 16, kInlineBytes = 12;
inline constexpr uint32_t kMaxWidth = 1024;
inline constexpr uint32_t kMaxColumns = 1600;
inline constexpr uint64_t kMaxRowBytes = 1 << 20;
inline constexpr uint64_t kMaxRows = 250'000'000;

struct Column {
  std::string name, type;  // SQL's names, for people
  Form form = Form::kFixed;
  uint32_t width = 0;    // for kFixed
  uint32_t type_id = 0;  // the type's OID in SQL
  int32_t typmod = -1;

  uint32_t value_bytes() const { return form == Form::kFixed ? width : kViewBytes; }
  /// Ignores the names.
  bool operator==(const Column& other) const {
    return form == other.form && width == other.width && type_id == other.type_id && typmod == other.typmod;
  }
};

struct Shape {
  std::vector<Column> columns;
  int32_t key = -1;  // index of the primary key's column; -1: none
  uint64_t max_rows = 0;

  bool operator==(const Shape&) const = default;
};

/// Errors: kInvalidParameter for a shape that no table can have.
Status check_shape(const Shape& shape);

/// The shape as bytes for files. decode_shape() removes from the front what encode_shape() has made. Errors:
/// kCorruptFile.
std::string encode_shape(const Shape& shape);
/// A hash of the parts that operator== compares.
uint64_t hash_shape(Shape shape);
Result<Shape> decode_shape(std::string_view bytes);

/// Versions of rows are in slots; slot 0 does not exist. A chunk has the slots of up to 65536 rows.
using Slot = uint32_t;
inline constexpr Slot kNoSlot = 0;
inline constexpr uint32_t kChunkRows = 65536;
inline constexpr uint32_t kBlockRows = 64;
inline constexpr uint32_t kPageRows = 256;                   // the versions of so many slots are a page of memory
inline constexpr uint64_t kHeapSegment = uint64_t{1} << 30;  // a buffer of Arrow's views

/// The offsets of the parts in the memory, in bytes.
struct Layout {
  uint32_t chunk_rows = 0;
  uint64_t slots = 0, chunks = 0;
  uint64_t bucket_count = 0;                                            // of the key's index; 0 if there is no key
  uint64_t heads = 0, infos = 0, marks = 0, pages = 0, head_bytes = 0;  // these have memory from the beginning
  uint64_t versions = 0;                                                // of all slots; pages at rest have no memory
  uint64_t nulls = 0;       // flags of each chunk and column; they get memory only when there are NULLs
  uint64_t null_bytes = 0;  // for one column in a chunk; a mark says whether there are any NULLs
  // Chunks lie side by side without holes, so huge pages can hold them.
  uint64_t chunk_begin = 0, chunk_bytes = 0;
  uint64_t written = 0, links = 0;  // offsets in a chunk, which begins with its blocks
  std::vector<uint64_t> values;     // the offset of each column in a chunk
  uint64_t heap_begin = 0, heap_bytes = 0, bytes = 0;
};

Layout layout_of(const Shape& shape, uint64_t header_bytes);

}  // namespace strom::store::rows
