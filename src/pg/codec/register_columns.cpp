// See value_writer.hpp.
#include <algorithm>
#include <cstring>

#include "pg/codec/decode.hpp"
#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

using columnar::ColumnBuilder;
using Form = ValueWriter::Form;

namespace {

bool is_null(const RegisterColumn& from, int64_t row) {
  return from.values == nullptr ? from.is_null : from.flags != nullptr && (from.flags[row] & 1) != 0;
}

/// A value as it is stored on a page, of a type without special treatment here. May ereport.
Datum stored_datum(const RegisterColumn& from, int64_t row) {
  if (from.stored_length > 0 && from.stored_by_value) {
    switch (from.stored_length) {
      case 1: return CharGetDatum(static_cast<char>(load<int32_t>(from.values, row)));
      case 2: return Int16GetDatum(static_cast<int16>(load<int32_t>(from.values, row)));
      case 4: return Int32GetDatum(load<int32_t>(from.values, row));
      default: return Int64GetDatum(load<int64_t>(from.values, row));
    }
  }
  const auto view = load<registry::StrView>(from.values, row);
  if (from.stored_length > 0) return PointerGetDatum(view.ptr);
  auto* copy = static_cast<struct varlena*>(palloc(static_cast<Size>(view.len) + VARHDRSZ));
  SET_VARSIZE(copy, static_cast<Size>(view.len) + VARHDRSZ);
  std::memcpy(VARDATA(copy), view.ptr, static_cast<size_t>(view.len));
  return PointerGetDatum(copy);
}

/// Appends value by value, as for rows. Serves any type.
void append_datums(const ValueWriter& writer, ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                   int64_t count) {
  constexpr int64_t kRowsBetweenResets = 64, kTextBetweenResets = 1 << 20;
  int64_t reset_at = *writer.text_bytes;
  for (int64_t row = first; row < first + count; ++row) {
    if ((row - first) % kRowsBetweenResets == 0 || *writer.text_bytes - reset_at > kTextBetweenResets) {
      MemoryContextReset(CurrentMemoryContext);
      reset_at = *writer.text_bytes;
    }
    if (is_null(from, row))
      to.append_null();
    else if (from.values == nullptr)
      writer.append(writer, to, from.constant);
    else if (from.stored_length != 0)
      writer.append(writer, to, stored_datum(from, row));
    else
      writer.append(writer, to,
                    datum_from_register(from.type, from.scale, from.length, from.values, row, from.check_text));
    if (*writer.row_number > 0) ++*writer.row_number;
  }
}

/// Appends `count` values of type Stored. convert() makes them from registers; it is not called for NULL rows.
template <class Register, class Stored, class Convert>
void append_converted(ColumnBuilder& to, const RegisterColumn& from, int64_t first, int64_t count, Convert convert) {
  const uint8_t* flags = from.flags == nullptr ? nullptr : from.flags + first;
  uint8_t* place = to.append_fixed(flags, count);
  const char* values = static_cast<const char*>(from.values) + first * static_cast<int64_t>(sizeof(Register));
  for (int64_t i = 0; i < count; ++i) {
    const Stored value = flags != nullptr && (flags[i] & 1) != 0 ? Stored{} : convert(load<Register>(values, i));
    std::memcpy(place + i * static_cast<int64_t>(sizeof(Stored)), &value, sizeof(value));
  }
}

/// True if test() holds for all rows that are not NULL.
template <class Register, class Test>
bool all_of(const RegisterColumn& from, int64_t first, int64_t count, Test test) {
  bool all = true;
  for (int64_t row = first; row < first + count; ++row)
    all = all & (is_null(from, row) || test(load<Register>(from.values, row)));
  return all;
}

constexpr auto kAsItIs = [](auto value) { return value; };

bool append_dates(ColumnBuilder& to, const RegisterColumn& from, int64_t first, int64_t count) {
  if (!all_of<int32_t>(from, first, count, [](int32_t date) { return !DATE_NOT_FINITE(date); })) return false;
  append_converted<int32_t, int32_t>(to, from, first, count, [](int32_t date) { return date + kEpochDays; });
  return true;
}

bool append_timestamps(ColumnBuilder& to, const RegisterColumn& from, int64_t first, int64_t count) {
  const auto fits = [](int64_t micros) { return !TIMESTAMP_NOT_FINITE(micros) && micros <= INT64_MAX - kEpochMicros; };
  if (!all_of<int64_t>(from, first, count, fits)) return false;
  append_converted<int64_t, int64_t>(to, from, first, count, [](int64_t micros) { return micros + kEpochMicros; });
  return true;
}

bool append_decimals(const ValueWriter& writer, ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                     int64_t count) {
  using base::int128;
  const int128 limit = writer.limit;
  if (from.scale != writer.field->scale ||
      !all_of<int128>(from, first, count, [limit](int128 value) { return value < limit && value > -limit; }))
    return false;
  append_converted<int128, int128>(to, from, first, count, kAsItIs);
  return true;
}

/// True for ASCII, which is valid text wherever it is split.
bool is_ascii(const uint8_t* bytes, int64_t size) {
  bool ascii = true;
  for (int64_t i = 0; i < size; ++i) ascii = ascii & (static_cast<int8_t>(bytes[i]) > 0);
  return ascii;
}

bool append_texts(const ValueWriter& writer, ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                  int64_t count) {
  const auto* texts = static_cast<const registry::StrView*>(from.values) + first;
  const uint8_t* flags = from.flags == nullptr ? nullptr : from.flags + first;
  const int64_t begin = to.data().size(), rows = to.length();
  if (!to.append_texts(texts, flags, count)) return false;
  const int64_t size = to.data().size() - begin;
  if (from.check_text && !is_ascii(to.data().data() + begin, size)) {
    for (int64_t row = first; row < first + count; ++row) {
      if (is_null(from, row) || is_valid_text(from.type, from.values, row)) continue;
      to.truncate(rows);
      return false;
    }
  }
  *writer.text_bytes += size;
  return true;
}

/// Appends numerics in their stored form.
bool append_stored_decimals(const ValueWriter& writer, ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                            int64_t count) {
  using base::int128;
  const int64_t rows = to.length();
  const int128 limit = writer.limit;
  const auto* views = static_cast<const registry::StrView*>(from.values) + first;
  const uint8_t* flags = from.flags == nullptr ? nullptr : from.flags + first;
  uint8_t* place = to.append_fixed(flags, count);
  bool all = true;
  for (int64_t i = 0; i < count; ++i) {
    int128 value = 0;
    if (flags == nullptr || (flags[i] & 1) == 0)
      all = all & writer.numeric.read(views[i].ptr, views[i].len, &value) & (value < limit) & (value > -limit);
    std::memcpy(place + i * static_cast<int64_t>(sizeof(value)), &value, sizeof(value));
  }
  if (!all) to.truncate(rows);
  return all;
}

/// Appends values whose bytes are the same on pages and in the file.
void append_stored_bytes(const ValueWriter& writer, ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                         int64_t count) {
  const auto width = static_cast<size_t>(writer.field->byte_width);
  const auto* views = static_cast<const registry::StrView*>(from.values) + first;
  uint8_t* place = to.append_fixed(from.flags == nullptr ? nullptr : from.flags + first, count);
  for (int64_t i = 0; i < count; ++i, place += width) {
    if (is_null(from, first + i))
      std::memset(place, 0, width);
    else
      std::memcpy(place, views[i].ptr, width);
  }
}

void append_stored_bools(ColumnBuilder& to, const RegisterColumn& from, int64_t first, int64_t count) {
  for (int64_t row = first; row < first + count; ++row) {
    if (is_null(from, row))
      to.append_null();
    else
      to.append_bool(load<int32_t>(from.values, row) != 0);
  }
}

/// Appends values from pages without making Datums. False, with nothing appended, for types that need Datums and where
/// a value may not fit the file.
bool append_stored(const ValueWriter& writer, ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                   int64_t count) {
  switch (writer.form) {
    case Form::kBool: append_stored_bools(to, from, first, count); return true;
    case Form::kInt16:
      append_converted<int32_t, int16_t>(to, from, first, count,
                                         [](int32_t value) { return static_cast<int16_t>(value); });
      return true;
    case Form::kInt32: append_converted<int32_t, int32_t>(to, from, first, count, kAsItIs); return true;
    case Form::kInt64: append_converted<int64_t, int64_t>(to, from, first, count, kAsItIs); return true;
    case Form::kDate32: return append_dates(to, from, first, count);
    case Form::kMicros: return append_timestamps(to, from, first, count);
    case Form::kDecimal: return append_stored_decimals(writer, to, from, first, count);
    case Form::kText:
    case Form::kBytes: return append_texts(writer, to, from, first, count);
    case Form::kFixed: append_stored_bytes(writer, to, from, first, count); return true;
    case Form::kOther: break;
  }
  return false;
}

/// Like append_stored(), from registers of the engine.
bool append_registers(const ValueWriter& writer, ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                      int64_t count) {
  using registry::DatumForm;
  switch (registry::type_info(from.type).form) {
    case DatumForm::kInt2:
      if (writer.form != Form::kInt16) return false;
      append_converted<int32_t, int16_t>(to, from, first, count,
                                         [](int32_t value) { return static_cast<int16_t>(value); });
      return true;
    case DatumForm::kInt4:
    case DatumForm::kFloat4:
      if (writer.form != Form::kInt32) return false;
      append_converted<int32_t, int32_t>(to, from, first, count, kAsItIs);
      return true;
    case DatumForm::kInt8:
    case DatumForm::kFloat8:
      if (writer.form != Form::kInt64) return false;
      append_converted<int64_t, int64_t>(to, from, first, count, kAsItIs);
      return true;
    case DatumForm::kDate: return writer.form == Form::kDate32 && append_dates(to, from, first, count);
    case DatumForm::kTimestamp: return writer.form == Form::kMicros && append_timestamps(to, from, first, count);
    case DatumForm::kNumeric:
      return from.type != registry::TypeId::kDecimal && writer.form == Form::kDecimal &&
             append_decimals(writer, to, from, first, count);
    case DatumForm::kVarlena:  // char(n) may need padding
      return registry::is_text(from.type) && from.type != registry::TypeId::kBpchar && writer.form == Form::kText &&
             append_texts(writer, to, from, first, count);
    default: return false;
  }
}

}  // namespace

void append_nulls(ColumnBuilder& to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to.append_null();
}

void append_column(const ValueWriter& writer, ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                   int64_t count) {
  if (from.values == nullptr && from.is_null) return append_nulls(to, count);
  const bool done = from.values != nullptr &&
                    (from.stored_length != 0 ? append_stored : append_registers)(writer, to, from, first, count);
  if (!done) append_datums(writer, to, from, first, count);
}

}  // namespace strom::pg::codec
