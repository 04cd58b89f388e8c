// Columnar values to Datum, row by row: for foreign scans, ANALYZE, fallback rows, and for what the
// engine returns. Everything here may ereport and holds plain data only; values with storage are palloc'd in the
// current memory context. Errors: 22008 date or timestamp outside PostgreSQL's range, 22021 text that is not valid in
// its encoding, 22001 text too long for char(n), XX001 text offsets that lead outside of their buffer.
#pragma once

#include <cstdint>
#include <cstring>

#include "columnar/batch.hpp"
#include "columnar/load.hpp"
#include "columnar/schema.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/codec/type_map.hpp"
#include "registry/types.hpp"

namespace strom::pg::codec {

/// Where the rows being decoded come from, for error messages. Strings outlive the decoder's use.
struct RowSite {
  const char* column = "";
  const char* file = "";
  int batch = 0;
};

/// Reads one column. make_decoder() binds it to a field and a declared type; setting `view` (and `place`) binds it to
/// the current record batch.
struct Decoder {
  Datum (*read)(const Decoder& decoder, int64_t row) = nullptr;
  columnar::ColumnView view;
  int32_t scale = 0;                                     // of decimals, or kOwnScale
  int32_t length = -1;                                   // n of char(n), -1 = not padded
  columnar::TimeUnit unit = columnar::TimeUnit::kMicro;  // of times and durations
  registry::TypeId type = registry::TypeId::kBool;       // of columns in register layout
  const RowSite* place = nullptr;
  bool names_place = true;                       // errors name the row's place; false: the caller adds it
  const struct NestedDecoder* nested = nullptr;  // reads rows instead of `read`
};

/// A decoder for a field that fits: `fit(field, declared)` is not Fit::kNone. Neither raises nor throws.
Decoder make_decoder(const columnar::Field& field, SqlType declared);
/// A decoder for values of the engine, in the form that codec::append() writes.
Decoder make_decoder(const columnar::Field& field, const registry::TypeInfo& type);

/// A decoder for a column of an Arrow file, read as any type that fits. `view` is a view of `field`, and `field`
/// outlives the decoder. Allocates in the current memory context. May throw.
Decoder make_file_decoder(const columnar::Field& field, SqlType declared, const columnar::ColumnView& view,
                          const RowSite* place);

/// The value of a row whose decoder has `nested`; see nested_decode.cpp.
Datum decode_nested(const Decoder& decoder, int64_t row, bool* is_null);

/// Value of row `row` (0 <= row < view.length).
inline Datum decode(const Decoder& decoder, int64_t row, bool* is_null) {
  if (decoder.nested != nullptr) return decode_nested(decoder, row, is_null);
  const columnar::ColumnView& view = decoder.view;
  *is_null = view.validity != nullptr && ((view.validity[row >> 3] >> (row & 7)) & 1) == 0;
  return *is_null ? Datum{0} : decoder.read(decoder, row);
}

/// The part of make_file_decoder() for Conversion::kValue, on a base type: values that are neither nested nor
/// converted. `is_half`: the type is float2.
Decoder make_value_decoder(const columnar::Field& field, SqlType base, bool is_half);

/// Value of row `row` of a column of engine registers (see registry::Phys) with SQL type `type`. `scale` belongs to
/// fixed-point values of numeric; `length` is the n of char(n), or -1. Text is in the server's encoding; if
/// `check_text`, invalid text is an error.
Datum datum_from_register(registry::TypeId type, int scale, int32_t length, const void* values, int64_t row,
                          bool check_text = true);
using columnar::load;

/// datum_from_register() for types that need only a load; false for all other types.
inline bool load_datum(registry::TypeId type, const void* values, int64_t row, Datum* datum) {
  using registry::DatumForm;
  switch (registry::type_info(type).form) {
    case DatumForm::kInt4: *datum = Int32GetDatum(load<int32_t>(values, row)); return true;
    case DatumForm::kDate: *datum = DateADTGetDatum(load<int32_t>(values, row)); return true;
    case DatumForm::kInt8:
    case DatumForm::kTimestamp: *datum = Int64GetDatum(load<int64_t>(values, row)); return true;
    case DatumForm::kFloat8: *datum = Float8GetDatum(load<double>(values, row)); return true;
    default: return false;
  }
}
/// False for text that is invalid in the server's encoding.
bool is_valid_text(registry::TypeId type, const void* values, int64_t row);

}  // namespace strom::pg::codec
