// Columns of a store table: converts between SQL values and their form in its memory.
#pragma once

#include <vector>

#include "base/status.hpp"
#include "pg/boundary/postgres.hpp"
#include "store/rows/cell.hpp"
#include "store/rows/shape.hpp"

namespace strom::pg::store {

namespace rows = ::strom::store::rows;

/// How a column's values become bytes.
enum class Codec : uint8_t {
  kByte,     // bool, and other types of one byte
  kSmall,    // int2, sign-extended to 4 bytes
  kChar,     // "char", zero-extended to 4 bytes
  kWord,     // other types of 4 bytes
  kObject,   // oid and enums, as 8 bytes
  kLong,     // types of 8 bytes
  kBytes,    // other types of a fixed length
  kVarlena,  // without the varlena header
};

/// A column that was not dropped.
struct StoreColumn {
  AttrNumber attnum;
  Oid type;
  int32_t typmod;
  int16_t length;  // pg_type.typlen
  Codec codec;
  uint32_t width;  // for kBytes: the stored width, which is that of the engine's register if there is one
};

/// The columns of `relation`, and the shape of its memory. Errors: kUnsupported (a type, a key), kBadOption (no such
/// key). May throw.
Result<std::vector<StoreColumn>> columns_of(Relation relation, const std::string& primary_key, uint64_t max_rows,
                                            rows::Shape* shape);

/// Memory for the bytes of one fixed value.
struct CellSpace {
  uint64_t words[2];
};

/// Sets the cell to the value's bytes: in `space`, in the datum itself, or in the current memory context. May ereport.
void set_cell(const StoreColumn& column, Datum value, bool is_null, CellSpace* space, rows::Cell* cell);

/// The value of a cell. Values by reference are copied into the current memory context. May ereport.
Datum from_cell(const StoreColumn& column, const rows::Cell& cell, bool* is_null);

}  // namespace strom::pg::store
