// See plain_values.hpp.
#include "pg/codec/plain_values.hpp"

#include <algorithm>
#include <cstring>

#include "base/stored_numeric.hpp"
#include "columnar/layout.hpp"
#include "format/pgwire/numeric.hpp"
#include "pg/compat/interval.hpp"

namespace strom::pg::codec {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

// May ereport.
void refuse_value(const ValueWriter& writer, int code, const char* what) {
  if (*writer.row_number > 0)
    ereport(ERROR, (errcode(code), errmsg("%s in row %lld, column \"%s\" cannot be written to Arrow", what,
                                          static_cast<long long>(*writer.row_number), writer.column)));
  ereport(ERROR, (errcode(code), errmsg("%s in column \"%s\" cannot be written to Arrow", what, writer.column)));
  pg_unreachable();
}

[[noreturn]] static void fail(const ValueWriter& writer, int code, const char* what) {
  refuse_value(writer, code, what);
}

/// Handles a value that the Arrow type cannot represent: an error, or NULL if the settings say so.
static void out_of_range(const ValueWriter& writer, ColumnBuilder& to, int code, const char* what) {
  if (!writer.out_of_range_is_null) fail(writer, code, what);
  to.append_null();
}

static void infinite(const ValueWriter& writer, ColumnBuilder& to, int code, const char* what) {
  if (writer.infinity_is_null) return to.append_null();
  out_of_range(writer, to, code, what);
}

static void add_text(const ValueWriter& writer, ColumnBuilder& to, const char* bytes, size_t size) {
  if (!to.append_bytes(bytes, static_cast<int64_t>(size)))
    fail(writer, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "more than 2 GB of one record batch");
  *writer.text_bytes += static_cast<int64_t>(size);
}

static void add_server_text(const ValueWriter& writer, ColumnBuilder& to, const char* bytes, size_t size) {
  if (GetDatabaseEncoding() == PG_UTF8) return add_text(writer, to, bytes, size);
  char* utf8 = pg_server_to_any(bytes, static_cast<int>(size), PG_UTF8);
  add_text(writer, to, utf8, utf8 == bytes ? size : std::strlen(utf8));
}

namespace {

struct Varlena {
  const char* bytes;
  size_t size;
};

}  // namespace

static Varlena plain(Datum value) {
  const struct varlena* detoasted = pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(value)));
  return {VARDATA_ANY(detoasted), VARSIZE_ANY_EXHDR(detoasted)};
}

void append_bool(const ValueWriter&, ColumnBuilder& to, Datum value) { to.append_bool(DatumGetBool(value)); }
void append_text(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const Varlena text = plain(value);
  add_server_text(writer, to, text.bytes, text.size);
}
void append_bytes(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const Varlena text = plain(value);
  add_text(writer, to, text.bytes, text.size);
}
void append_name(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const char* name = NameStr(*DatumGetName(value));
  add_server_text(writer, to, name, std::strlen(name));
}
/// A value's text in a form that does not depend on the reader's settings.
static const char* portable_text(const ValueWriter& writer, Datum value) {
  auto* output = const_cast<FmgrInfo*>(&writer.output);
  const int dates = DateStyle, intervals = IntervalStyle, digits = extra_float_digits;
  if (dates == USE_ISO_DATES && intervals == INTSTYLE_POSTGRES && digits > 0) return OutputFunctionCall(output, value);
  const char* volatile text = nullptr;
  PG_TRY();
  {
    DateStyle = USE_ISO_DATES;
    IntervalStyle = INTSTYLE_POSTGRES;
    extra_float_digits = std::max(digits, 1);
    text = OutputFunctionCall(output, value);
  }
  PG_FINALLY();
  {
    DateStyle = dates;
    IntervalStyle = intervals;
    extra_float_digits = digits;
  }
  PG_END_TRY();
  return text;
}

void append_output(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const char* text = portable_text(writer, value);
  add_server_text(writer, to, text, std::strlen(text));
}
/// Like append_output(), for types whose texts contain names of objects: the names are qualified with their schemas.
void append_names(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const int level = NewGUCNestLevel();
  (void)set_config_option("search_path", "pg_catalog", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
  const char* text = portable_text(writer, value);
  AtEOXact_GUC(true, level);
  add_server_text(writer, to, text, std::strlen(text));
}
void append_fixed(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  std::memcpy(to.append_fixed(), DatumGetPointer(value), static_cast<size_t>(writer.field->byte_width));
}

void append_tid(const ValueWriter&, ColumnBuilder& to, Datum value) {
  const auto* tid = reinterpret_cast<ItemPointer>(DatumGetPointer(value));
  const uint32_t block = __builtin_bswap32(ItemPointerGetBlockNumberNoCheck(tid));
  const uint16_t item = __builtin_bswap16(ItemPointerGetOffsetNumberNoCheck(tid));
  uint8_t* place = to.append_fixed();
  std::memcpy(place, &block, sizeof block);
  std::memcpy(place + sizeof block, &item, sizeof item);
}

void append_date(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const DateADT date = DatumGetDateADT(value);
  if (DATE_NOT_FINITE(date)) return infinite(writer, to, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "an infinite date");
  const int64_t days = int64_t{date} + kEpochDays;
  if (writer.field->layout == Layout::kDate64)
    to.append(days * (SECS_PER_DAY * INT64CONST(1000)));
  else
    to.append(static_cast<int32_t>(days));
}

/// Converts `micros` to the unit of the field. Returns nullptr, or why the value does not fit.
static const char* in_unit(const ValueWriter& writer, __int128 micros, int64_t* value) {
  __int128 units = micros;
  if (writer.per_unit == 0) {
    units = micros * 1000;
  } else if (writer.per_unit > 1) {
    if (micros % writer.per_unit != 0) return "a time with more digits than the file's";
    units = micros / writer.per_unit;
  }
  *value = static_cast<int64_t>(units);
  if (*value == units) return nullptr;
  return writer.per_unit == 0 ? "a time that takes more than 64 bits of nanoseconds"
                              : "a timestamp after the year 294246";
}

void append_timestamp(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const Timestamp micros = DatumGetTimestamp(value);
  if (TIMESTAMP_NOT_FINITE(micros))
    return infinite(writer, to, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, "an infinite timestamp");
  int64_t units = 0;
  const char* problem = in_unit(writer, __int128{micros} + kEpochMicros, &units);
  if (problem != nullptr) return out_of_range(writer, to, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, problem);
  to.append(units);
}

/// PostgreSQL has the time 24:00:00; Arrow's times are below it.
void append_time(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const TimeADT micros = DatumGetTimeADT(value);
  int64_t time = 0;
  const char* problem = micros >= USECS_PER_DAY ? "time 24:00:00" : in_unit(writer, micros, &time);
  if (problem != nullptr) return out_of_range(writer, to, ERRCODE_DATETIME_VALUE_OUT_OF_RANGE, problem);
  if (writer.field->layout == Layout::kTime32)
    to.append(static_cast<int32_t>(time));
  else
    to.append(time);
}

void append_interval(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const Interval* interval = DatumGetIntervalP(value);
  if (compat::is_infinite(*interval))
    return infinite(writer, to, ERRCODE_INTERVAL_FIELD_OVERFLOW, "an infinite interval");
  int64_t nanos = 0;
  if (__builtin_mul_overflow(interval->time, int64_t{1000}, &nanos))
    return out_of_range(writer, to, ERRCODE_INTERVAL_FIELD_OVERFLOW, "an interval of more than 64 bits of nanoseconds");
  const int32_t parts[2] = {interval->month, interval->day};
  uint8_t* place = to.append_fixed();
  std::memcpy(place, parts, sizeof(parts));
  std::memcpy(place + sizeof(parts), &nanos, sizeof(nanos));
}

/// Converts a numeric to its wire format; the digits are palloc'd. False for NaN and infinities: only `sign` is set.
static bool wire_form(const Varlena& stored, format::pgwire::NumericView* view) {
  using Sign = format::pgwire::NumericView::Sign;
  base::NumericHeader header;
  if (!base::read_numeric_header(stored.bytes, static_cast<int64_t>(stored.size), &header)) {
    constexpr uint16_t kInfinite = 0x1000, kNegative = 0x2000;  // besides the two bits of special values
    const auto word = stored.size < 2 ? uint16_t{0} : base::load_unaligned<uint16_t>(stored.bytes);
    view->sign = (word & kInfinite) == 0   ? Sign::kNan
                 : (word & kNegative) == 0 ? Sign::kInfinity
                                           : Sign::kMinusInfinity;
    return false;
  }
  view->count = static_cast<int32_t>((static_cast<int64_t>(stored.size) - header.size) / 2);
  view->weight = header.weight;
  view->scale = header.scale;
  view->sign = header.negative ? Sign::kNegative : Sign::kPositive;
  auto* digits = static_cast<uint8_t*>(palloc(static_cast<Size>(view->count) * 2 + 1));
  for (int32_t i = 0; i < view->count; ++i) {
    const auto digit = base::load_unaligned<uint16_t>(stored.bytes + header.size + 2 * i);
    digits[2 * i] = static_cast<uint8_t>(digit >> 8);
    digits[2 * i + 1] = static_cast<uint8_t>(digit);
  }
  view->digits = digits;
  return true;
}

static void append_any_decimal(const ValueWriter& writer, ColumnBuilder& to, const Varlena& stored) {
  using format::pgwire::DecimalOutcome;
  constexpr int kCode = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
  format::pgwire::NumericView view;
  if (!wire_form(stored, &view)) return out_of_range(writer, to, kCode, "NaN or infinity of numeric");
  const Field& field = *writer.field;
  uint8_t value[32];
  const auto width = static_cast<size_t>(columnar::stored_width(field));
  const int32_t bits = field.layout == Layout::kDecimal256 ? 256 : 128;
  switch (format::pgwire::numeric_to_decimal(view, field.precision, field.scale, bits, value)) {
    case DecimalOutcome::kExact: break;
    case DecimalOutcome::kTooLarge:
      return out_of_range(writer, to, kCode, "a number with more digits than the decimal has");
    case DecimalOutcome::kTooPrecise:
      return out_of_range(writer, to, kCode, "a number with more digits behind the point than the decimal has");
  }
  std::memcpy(to.append_fixed(), value, width);  // little-endian: the low bytes
}

void append_decimal(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const Varlena stored = plain(value);
  base::int128 unscaled;
  if (writer.limit > 0 && writer.numeric.read(stored.bytes, static_cast<int64_t>(stored.size), &unscaled) &&
      unscaled < writer.limit && unscaled > -writer.limit)
    return to.append(unscaled);
  append_any_decimal(writer, to, stored);
}

void append_numeric_real(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  using format::pgwire::DecimalOutcome;
  constexpr int kCode = ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
  format::pgwire::NumericView view;
  (void)wire_form(plain(value), &view);
  double real = 0;
  const DecimalOutcome outcome = format::pgwire::numeric_to_real(view, &real);
  if (outcome == DecimalOutcome::kTooLarge) return out_of_range(writer, to, kCode, "a number beyond those of Float64");
  if (outcome == DecimalOutcome::kTooPrecise && !writer.may_round)
    return out_of_range(writer, to, kCode, "a number with digits that Float64 does not have");
  to.append(real);
}

void append_enum(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const Oid label = DatumGetObjectId(value);
  const auto found = std::lower_bound(writer.labels.begin(), writer.labels.end(), std::pair(label, int32_t{0}));
  if (found == writer.labels.end() || found->first != label)
    fail(writer, ERRCODE_INVALID_TEXT_REPRESENTATION, "a label that was added meanwhile");
  to.append(found->second);
}

namespace {

/// The elements of an array that is being appended.
struct Elements {
  Datum* values;
  bool* nulls;
  const int* dims;
  int dimensions;
  int next;
};

}  // namespace

static void append_dimension(const ValueWriter& writer, ColumnBuilder& to, Elements& elements, int depth) {
  const ValueWriter& element = *writer.children[0];
  const int count = elements.dimensions == 0 ? 0 : elements.dims[depth];
  if (to.field().layout == Layout::kFixedList && count != to.field().byte_width)
    fail(writer, ERRCODE_ARRAY_SUBSCRIPT_ERROR, "an array of another length than the file's lists");
  for (int i = 0; i < count; ++i) {
    if (depth + 1 < writer.dimensions) {
      append_dimension(writer, to.child(0), elements, depth + 1);
      continue;
    }
    const int at = elements.next++;
    if (elements.nulls[at])
      to.child(0).append_null();
    else
      element.append(element, to.child(0), elements.values[at]);
  }
  if (!to.append_list()) fail(writer, ERRCODE_PROGRAM_LIMIT_EXCEEDED, "more than 2^31 elements of one record batch");
}

void append_array(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  ArrayType* array = DatumGetArrayTypeP(value);
  const int dimensions = ARR_NDIM(array);
  if (dimensions > 1 && writer.dimensions == 1)
    fail(writer, ERRCODE_FEATURE_NOT_SUPPORTED, "an array of more than one dimension");
  if (dimensions != 0 && dimensions != writer.dimensions)
    fail(writer, ERRCODE_ARRAY_SUBSCRIPT_ERROR, "an array of other dimensions than the file's lists");
  for (int i = 0; i < dimensions; ++i)
    if (ARR_LBOUND(array)[i] != 1) fail(writer, ERRCODE_FEATURE_NOT_SUPPORTED, "an array whose first index is not 1");
  Elements elements{nullptr, nullptr, ARR_DIMS(array), dimensions, 0};
  int count;
  deconstruct_array(array, writer.type, writer.length, writer.by_value, writer.align, &elements.values, &elements.nulls,
                    &count);
  append_dimension(writer, to, elements, 0);
  *writer.text_bytes += int64_t{count} * 8;
}

void append_composite(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  HeapTupleHeader header = DatumGetHeapTupleHeader(value);
  HeapTupleData tuple;
  tuple.t_len = HeapTupleHeaderGetDatumLength(header);
  ItemPointerSetInvalid(&tuple.t_self);
  tuple.t_tableOid = InvalidOid;
  tuple.t_data = header;
  const int count = writer.row->natts;
  auto* values = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<Size>(count + 1)));
  auto* nulls = static_cast<bool*>(palloc(sizeof(bool) * static_cast<Size>(count + 1)));
  heap_deform_tuple(&tuple, writer.row, values, nulls);
  size_t part = 0;
  for (int i = 0; i < count; ++i) {
    if (TupleDescAttr(writer.row, i)->attisdropped) continue;
    const ValueWriter& child = *writer.children[part];
    ColumnBuilder& target = to.child(writer.targets.empty() ? part : static_cast<size_t>(writer.targets[part]));
    if (nulls[i])
      target.append_null();
    else
      child.append(child, target, values[i]);
    ++part;
  }
  *writer.text_bytes += int64_t{count} * 8;
  to.append_struct();
}

}  // namespace strom::pg::codec
