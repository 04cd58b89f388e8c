// Readers of columnar values, one for each layout.
#include "pg/codec/decode.hpp"

#include <cstring>

#include "base/half.hpp"
#include "base/int128.hpp"
#include "base/uint256.hpp"
#include "columnar/heap_page.hpp"
#include "columnar/layout.hpp"
#include "columnar/text.hpp"
#include "pg/codec/numeric.hpp"

namespace strom::pg::codec {

using columnar::Layout;
using columnar::TimeUnit;

namespace {

constexpr int32_t kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;  // 1970-01-01 to 2000-01-01
constexpr int64_t kEpochMicros = kEpochDays * USECS_PER_DAY;
constexpr int kMostShortScale = 38;  // the largest scale for numeric_from_int128()
constexpr int64_t kMillisPerDay = SECS_PER_DAY * INT64CONST(1000);

constexpr int64_t floor_div(int64_t value, int64_t divisor) { return value / divisor - (value % divisor < 0 ? 1 : 0); }

Datum read_bool(const Decoder& d, int64_t row) {
  const auto* bits = static_cast<const uint8_t*>(d.view.values);
  return BoolGetDatum(((bits[row >> 3] >> (row & 7)) & 1) != 0);
}

template <class Stored>
Datum read_int2(const Decoder& d, int64_t row) {
  return Int16GetDatum(load<Stored>(d.view.values, row));
}

template <class Stored>
Datum read_int4(const Decoder& d, int64_t row) {
  return Int32GetDatum(load<Stored>(d.view.values, row));
}

template <class Stored>
Datum read_int8(const Decoder& d, int64_t row) {
  return Int64GetDatum(load<Stored>(d.view.values, row));
}

Datum read_float4(const Decoder& d, int64_t row) { return Float4GetDatum(load<float>(d.view.values, row)); }

template <class Stored>
Datum read_float8(const Decoder& d, int64_t row) {
  return Float8GetDatum(load<Stored>(d.view.values, row));
}

Datum numeric_from_decimal(__int128 decimal) {
  return numeric_from_int128(base::decimal_unscaled(decimal), base::decimal_scale(decimal));
}

template <class T>
Datum read_decimal(const Decoder& d, int64_t row) {
  const __int128 value = load<T>(d.view.values, row);
  return d.scale == kOwnScale ? numeric_from_decimal(value) : numeric_from_int128(value, d.scale);
}

// For an ereport about a value: adds the place of the value, if it is known.
int errcontext_place(const Decoder& d, int64_t row) {
  if (d.place == nullptr || !d.names_place) return 0;
  return errcontext("column \"%s\" of file \"%s\", record batch %d, row %lld", d.place->column, d.place->file,
                    d.place->batch, static_cast<long long>(row));
}

Datum checked_date(const Decoder& d, int64_t row, int64_t unix_days) {
  const int64_t days = unix_days - kEpochDays;
  if (days < INT32_MIN || days > INT32_MAX || !IS_VALID_DATE(days))
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("date out of range"),
                    errdetail("The value is %lld days from 1970-01-01.", static_cast<long long>(unix_days)),
                    errcontext_place(d, row)));
  return DateADTGetDatum(static_cast<DateADT>(days));
}

Datum read_date32(const Decoder& d, int64_t row) { return checked_date(d, row, load<int32_t>(d.view.values, row)); }

Datum read_date64(const Decoder& d, int64_t row) {
  return checked_date(d, row, floor_div(load<int64_t>(d.view.values, row), kMillisPerDay));
}

// Converts to microseconds; finer units are rounded down.
template <int64_t kMultiplier, int64_t kDivisor>
Datum read_timestamp(const Decoder& d, int64_t row) {
  const auto stored = load<int64_t>(d.view.values, row);
  // The epoch first: PostgreSQL's microseconds reach 30 years further than those since 1970.
  int64_t micros = floor_div(stored, kDivisor);
  const bool overflow = __builtin_sub_overflow(micros, kEpochMicros / kMultiplier, &micros) ||
                        __builtin_mul_overflow(micros, kMultiplier, &micros);
  if (overflow || !IS_VALID_TIMESTAMP(micros))
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range"),
                    errdetail("The stored value is %lld.", static_cast<long long>(stored)), errcontext_place(d, row)));
  return TimestampGetDatum(micros);
}

// Pads a value, in the server's encoding, with blanks to `length` characters (char(n)).
struct varlena* pad_to_length(struct varlena* value, int32_t length) {
  const int bytes = static_cast<int>(VARSIZE(value)) - VARHDRSZ;
  const int characters = pg_mbstrlen_with_len(VARDATA(value), bytes);
  if (characters == length) return value;
  if (characters > length) {
    const int kept = pg_mbcharcliplen(VARDATA(value), bytes, length);
    for (int i = kept; i < bytes; ++i)
      if (VARDATA(value)[i] != ' ')
        ereport(ERROR, (errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
                        errmsg("value too long for type character(%d)", length)));
    SET_VARSIZE(value, kept + VARHDRSZ);
    return value;
  }
  const int padded = bytes + (length - characters);
  auto* result = static_cast<struct varlena*>(palloc(padded + VARHDRSZ));
  SET_VARSIZE(result, padded + VARHDRSZ);
  std::memcpy(VARDATA(result), VARDATA(value), bytes);
  std::memset(VARDATA(result) + bytes, ' ', padded - bytes);
  return result;
}

struct varlena* copy_text(const char* bytes, int64_t size) {
  constexpr int64_t kLargest = MaxAllocSize - VARHDRSZ;
  if (size > kLargest)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("text value of %lld bytes is too long", static_cast<long long>(size))));
  auto* value = static_cast<struct varlena*>(palloc(size + VARHDRSZ));
  SET_VARSIZE(value, size + VARHDRSZ);
  std::memcpy(VARDATA(value), bytes, size);
  return value;
}

// The bytes are copied before they are checked, because bytes of a file can change meanwhile.
Datum read_text(const Decoder& d, int64_t row) {
  const char* bytes = nullptr;
  int64_t size = 0;
  if (!columnar::text_at(d.view, row, &bytes, &size))
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("corrupt Arrow file \"%s\"", d.place != nullptr ? d.place->file : ""),
                    errdetail("A text value lies outside of its column's buffer."), errcontext_place(d, row)));
  struct varlena* value = copy_text(bytes, size);
  if (!pg_verify_mbstr(PG_UTF8, VARDATA(value), static_cast<int>(size), true))
    ereport(ERROR, (errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE), errmsg("text value is not valid UTF-8"),
                    errcontext_place(d, row)));
  if (GetDatabaseEncoding() != PG_UTF8) {
    const char* converted = pg_any_to_server(VARDATA(value), static_cast<int>(size), PG_UTF8);
    if (converted != VARDATA(value)) value = cstring_to_text(converted);
  }
  return PointerGetDatum(d.length >= 0 ? pad_to_length(value, d.length) : value);
}

// Types that only PostgreSQL has, in the form of codec::field_for(): in register layout, or as text.
Datum read_bytea(const Decoder& d, int64_t row) {
  const char* bytes = nullptr;
  int64_t size = 0;
  if (!columnar::text_at(d.view, row, &bytes, &size))
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("bytes of a column lie outside of its buffer")));
  return PointerGetDatum(copy_text(bytes, size));
}

Datum copy_16_bytes(const void* values, int64_t row) {
  void* value = palloc(16);
  std::memcpy(value, static_cast<const char*>(values) + row * 16, 16);
  return PointerGetDatum(value);
}

Datum read_register(const Decoder& d, int64_t row) { return datum_from_register(d.type, 0, -1, d.view.values, row); }

// A Datum by reference: `size` bytes, the most significant first.
Datum big_endian_datum(int64_t number, int size) {
  auto* bytes = static_cast<uint8_t*>(palloc(static_cast<Size>(size)));
  for (int i = size; i-- > 0; number >>= 8) bytes[i] = static_cast<uint8_t>(number);
  return PointerGetDatum(bytes);
}

Datum tid_datum(int64_t word) {
  auto* tid = static_cast<ItemPointer>(palloc(sizeof(ItemPointerData)));
  ItemPointerSet(tid, static_cast<BlockNumber>(word >> columnar::heap::kItemBits), static_cast<OffsetNumber>(word));
  return PointerGetDatum(tid);
}

Datum timetz_datum(const void* values, int64_t row) {
  const auto bits = load<unsigned __int128>(values, row);
  auto* time = static_cast<TimeTzADT*>(palloc(sizeof(TimeTzADT)));
  time->time = static_cast<TimeADT>(static_cast<uint64_t>(bits));
  time->zone = static_cast<int32_t>(static_cast<uint32_t>(bits >> 64));
  return TimeTzADTPGetDatum(time);
}

// Values of Arrow files in layouts that the engine's columns never have.

Datum read_uint32(const Decoder& d, int64_t row) { return UInt32GetDatum(load<uint32_t>(d.view.values, row)); }

Datum read_int1(const Decoder& d, int64_t row) { return CharGetDatum(load<char>(d.view.values, row)); }

Datum read_money(const Decoder& d, int64_t row) { return CashGetDatum(load<int64_t>(d.view.values, row)); }

Datum read_half(const Decoder& d, int64_t row) { return UInt16GetDatum(load<uint16_t>(d.view.values, row)); }

Datum read_half_as_float4(const Decoder& d, int64_t row) {
  return Float4GetDatum(base::half_to_float(load<uint16_t>(d.view.values, row)));
}

Datum read_uint64_as_numeric(const Decoder& d, int64_t row) {
  return numeric_from_int128(load<uint64_t>(d.view.values, row), 0);
}

Datum read_uint64(const Decoder& d, int64_t row) { return UInt64GetDatum(load<uint64_t>(d.view.values, row)); }

Datum read_uint64_as_int8(const Decoder& d, int64_t row) {
  const auto value = load<uint64_t>(d.view.values, row);
  if (value > INT64_MAX)
    ereport(ERROR, (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range"),
                    errdetail("The value is %llu.", static_cast<unsigned long long>(value)), errcontext_place(d, row)));
  return Int64GetDatum(static_cast<int64_t>(value));
}

// Decimals of any width and scale; they are converted through their text.
template <int kBytes>
Datum read_wide_decimal(const Decoder& d, int64_t row) {
  bool negative = false;
  char digits[96];
  *base::UInt256::magnitude(static_cast<const char*>(d.view.values) + row * kBytes, kBytes, &negative)
       .put_digits(digits) = '\0';
  // The text is "digits" and an exponent for the scale, which numeric_in() understands.
  char text[128];
  snprintf(text, sizeof text, "%s%se%d", negative ? "-" : "", digits, -d.scale);
  return DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
}

void bad_value(const Decoder& d, int64_t row, const char* type, int64_t value) {
  ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("%s out of range", type),
                  errdetail("The stored value is %lld.", static_cast<long long>(value)), errcontext_place(d, row)));
}

// Converts `value` from `unit` to microseconds; finer units are rounded down.
bool to_micros(int64_t value, TimeUnit unit, int64_t* micros) {
  switch (unit) {
    case TimeUnit::kSecond: return !__builtin_mul_overflow(value, INT64CONST(1000000), micros);
    case TimeUnit::kMilli: return !__builtin_mul_overflow(value, INT64CONST(1000), micros);
    case TimeUnit::kMicro: *micros = value; return true;
    case TimeUnit::kNano: *micros = floor_div(value, 1000); return true;
  }
  return false;
}

// PostgreSQL accepts 24:00:00 as a time.
template <class T>
Datum read_time(const Decoder& d, int64_t row) {
  const int64_t stored = load<T>(d.view.values, row);
  int64_t micros = 0;
  if (!to_micros(stored, d.unit, &micros) || micros < 0 || micros > USECS_PER_DAY) bad_value(d, row, "time", stored);
  return TimeADTGetDatum(micros);
}

Datum interval_datum(int32_t months, int32_t days, int64_t micros) {
  auto* interval = static_cast<Interval*>(palloc(sizeof(Interval)));
  interval->month = months;
  interval->day = days;
  interval->time = micros;
  return IntervalPGetDatum(interval);
}

Datum read_duration(const Decoder& d, int64_t row) {
  const auto stored = load<int64_t>(d.view.values, row);
  int64_t micros = 0;
  if (!to_micros(stored, d.unit, &micros)) bad_value(d, row, "interval", stored);
  return interval_datum(0, 0, micros);
}

Datum read_months(const Decoder& d, int64_t row) { return interval_datum(load<int32_t>(d.view.values, row), 0, 0); }

Datum read_day_time(const Decoder& d, int64_t row) {
  return interval_datum(0, load<int32_t>(d.view.values, 2 * row),
                        load<int32_t>(d.view.values, 2 * row + 1) * INT64CONST(1000));
}

Datum read_month_day_nano(const Decoder& d, int64_t row) {
  return interval_datum(load<int32_t>(d.view.values, 4 * row), load<int32_t>(d.view.values, 4 * row + 1),
                        floor_div(load<int64_t>(d.view.values, 2 * row + 1), 1000));
}

// Bytes of a value of a file. They are not validated in any way.
const char* bytes_at(const Decoder& d, int64_t row, int64_t* size) {
  const char* bytes = nullptr;
  if (!columnar::text_at(d.view, row, &bytes, size))
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                    errmsg("corrupt Arrow file \"%s\"", d.place != nullptr ? d.place->file : ""),
                    errdetail("A value lies outside of its column's buffer."), errcontext_place(d, row)));
  return bytes;
}

Datum read_binary(const Decoder& d, int64_t row) {
  int64_t size = 0;
  const char* bytes = bytes_at(d, row, &size);
  return PointerGetDatum(copy_text(bytes, size));
}

// uuid, macaddr and macaddr8 are these bytes, by reference.
Datum read_fixed(const Decoder& d, int64_t row) {
  int64_t size = 0;
  const char* bytes = bytes_at(d, row, &size);
  void* value = palloc(static_cast<Size>(size));
  std::memcpy(value, bytes, static_cast<size_t>(size));
  return PointerGetDatum(value);
}

Datum read_tid(const Decoder& d, int64_t row) {
  int64_t size = 0;
  const char* bytes = bytes_at(d, row, &size);
  uint32_t block;
  uint16_t item;
  std::memcpy(&block, bytes, sizeof block);
  std::memcpy(&item, bytes + sizeof block, sizeof item);
  auto* tid = static_cast<ItemPointer>(palloc(sizeof(ItemPointerData)));
  ItemPointerSet(tid, __builtin_bswap32(block), __builtin_bswap16(item));
  return PointerGetDatum(tid);
}

Datum read_address(const Decoder& d, int64_t row) {
  int64_t size = 0;
  const char* bytes = bytes_at(d, row, &size);
  auto* address = static_cast<inet*>(palloc0(sizeof(inet)));
  ip_family(address) = size == 4 ? PGSQL_AF_INET : PGSQL_AF_INET6;
  ip_bits(address) = static_cast<unsigned char>(8 * size);
  std::memcpy(ip_addr(address), bytes, static_cast<size_t>(size));
  SET_INET_VARSIZE(address);
  return InetPGetDatum(address);
}

using Read = Datum (*)(const Decoder&, int64_t);

Read timestamp_reader(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond: return read_timestamp<1000000, 1>;
    case TimeUnit::kMilli: return read_timestamp<1000, 1>;
    case TimeUnit::kMicro: return read_timestamp<1, 1>;
    case TimeUnit::kNano: return read_timestamp<1, 1000>;
  }
  pg_unreachable();
}

Read reader_of(const columnar::Field& field) {
  switch (field.layout) {
    case Layout::kBool: return read_bool;
    case Layout::kInt8: return read_int2<int8_t>;
    case Layout::kUInt8: return read_int2<uint8_t>;
    case Layout::kInt16: return read_int2<int16_t>;
    case Layout::kUInt16: return read_int4<uint16_t>;
    case Layout::kInt32: return read_int4<int32_t>;
    case Layout::kUInt32: return read_int8<uint32_t>;
    case Layout::kInt64: return read_int8<int64_t>;
    case Layout::kFloat32: return read_float4;
    case Layout::kFloat64: return read_float8<double>;
    case Layout::kDecimal32: return read_decimal<int32_t>;
    case Layout::kDecimal64: return read_decimal<int64_t>;
    case Layout::kDecimal128: return read_decimal<__int128>;
    case Layout::kDate32: return read_date32;
    case Layout::kDate64: return read_date64;
    case Layout::kTimestamp: return timestamp_reader(field.unit);
    case Layout::kUtf8:
    case Layout::kLargeUtf8:
    case Layout::kUtf8View:
    case Layout::kFixedBinary:
    case Layout::kDictionary: return read_text;
    default: return nullptr;  // see file_reader()
  }
}

// The reader of a field whose numbers are narrower than those of the declared type; nullptr for other fields.
Read widening_reader(Layout layout, Oid declared) {
  const bool is_int4 = declared == INT4OID;
  if (layout == Layout::kFloat32) return declared == FLOAT8OID ? read_float8<float> : nullptr;
  if (!is_int4 && declared != INT8OID) return nullptr;
  switch (layout) {
    case Layout::kInt8: return is_int4 ? read_int4<int8_t> : read_int8<int8_t>;
    case Layout::kUInt8: return is_int4 ? read_int4<uint8_t> : read_int8<uint8_t>;
    case Layout::kInt16: return is_int4 ? read_int4<int16_t> : read_int8<int16_t>;
    case Layout::kUInt16: return is_int4 ? read_int4<uint16_t> : read_int8<uint16_t>;
    case Layout::kInt32: return is_int4 ? read_int4<int32_t> : read_int8<int32_t>;
    default: return nullptr;
  }
}

Read fixed_binary_reader(Oid type) {
  switch (type) {
    case BPCHAROID: return read_text;
    case BYTEAOID: return read_binary;
    case INETOID:
    case CIDROID: return read_address;
    case TIDOID: return read_tid;
    default: return read_fixed;
  }
}

// The reader of a file's field as values of `type`.
Read file_reader(const columnar::Field& field, Oid type, bool is_half) {
  if (const Read wider = widening_reader(field.layout, type)) return wider;
  switch (field.layout) {
    case Layout::kInt8: return type == INT2OID ? read_int2<int8_t> : read_int1;
    case Layout::kInt64: return type == CASHOID ? read_money : read_int8<int64_t>;
    case Layout::kUInt32: return type == INT8OID ? read_int8<uint32_t> : read_uint32;
    case Layout::kUInt64:
      if (type == NUMERICOID) return read_uint64_as_numeric;
      return type == INT8OID ? read_uint64_as_int8 : read_uint64;
    case Layout::kFloat16: return is_half ? read_half : read_half_as_float4;
    case Layout::kDecimal256: return read_wide_decimal<32>;
    case Layout::kTime32: return read_time<int32_t>;
    case Layout::kTime64: return read_time<int64_t>;
    case Layout::kDuration: return read_duration;
    case Layout::kIntervalMonths: return read_months;
    case Layout::kIntervalDayTime: return read_day_time;
    case Layout::kIntervalMonthDayNano: return read_month_day_nano;
    case Layout::kBinary:
    case Layout::kLargeBinary:
    case Layout::kBinaryView: return read_binary;
    case Layout::kFixedBinary: return fixed_binary_reader(type);
    default: break;
  }
  if (columnar::is_decimal(field.layout) && (field.scale < 0 || field.scale > kMostShortScale)) {
    if (field.layout == Layout::kDecimal32) return read_wide_decimal<4>;
    return field.layout == Layout::kDecimal64 ? read_wide_decimal<8> : read_wide_decimal<16>;
  }
  return reader_of(field);
}

// The reader for types whose columns hold registers or binary data; nullptr for other types.
Read reader_of(const registry::TypeInfo& type) {
  using registry::DatumForm;
  switch (type.form) {
    case DatumForm::kInt1:
    case DatumForm::kUInt1:
    case DatumForm::kUInt4:
    case DatumForm::kUInt8:
    case DatumForm::kHalf:
    case DatumForm::kBytes6:
    case DatumForm::kBytes8:
    case DatumForm::kBytes16:
    case DatumForm::kTid:
    case DatumForm::kTimeTz: return read_register;
    case DatumForm::kVarlena: return registry::is_text(type.id) ? nullptr : read_bytea;
    default: return nullptr;
  }
}

Decoder make_decoder(const columnar::Field& field, SqlType declared, const registry::TypeInfo* type) {
  Decoder decoder;
  if (type != nullptr) {
    decoder.type = type->id;
    decoder.read = reader_of(*type);
  }
  if (decoder.read == nullptr) decoder.read = widening_reader(field.layout, declared.oid);
  if (decoder.read == nullptr) decoder.read = reader_of(field);
  decoder.scale = field.scale;
  decoder.unit = field.unit;
  if (declared.oid == BPCHAROID && declared.typmod >= VARHDRSZ) decoder.length = declared.typmod - VARHDRSZ;
  return decoder;
}

}  // namespace

Decoder make_decoder(const columnar::Field& field, SqlType declared) {
  return make_decoder(field, declared, registry::find_type(declared.oid));
}

Decoder make_decoder(const columnar::Field& field, const registry::TypeInfo& type) {
  return make_decoder(field, SqlType{type.pg_oid, -1}, &type);
}

Decoder make_value_decoder(const columnar::Field& field, SqlType base, bool is_half) {
  Decoder decoder = make_decoder(field, base);
  decoder.read = file_reader(field, base.oid, is_half);
  return decoder;
}

namespace {

Datum varlena_datum(registry::TypeId type, int32_t length, registry::StrView bytes, bool check_text) {
  struct varlena* value = copy_text(bytes.ptr, bytes.len);
  if (!registry::is_text(type)) return PointerGetDatum(value);
  if (check_text) pg_verifymbstr(VARDATA(value), static_cast<int>(bytes.len), false);
  const bool is_padded = type == registry::TypeId::kBpchar && length >= 0;
  return PointerGetDatum(is_padded ? pad_to_length(value, length) : value);
}

}  // namespace

Datum datum_from_register(registry::TypeId type, int scale, int32_t length, const void* values, int64_t row,
                          bool check_text) {
  using registry::DatumForm;
  switch (registry::type_info(type).form) {
    case DatumForm::kBool: return BoolGetDatum(load<uint8_t>(values, row) != 0);
    case DatumForm::kInt1:
    case DatumForm::kUInt1: return CharGetDatum(static_cast<char>(load<int32_t>(values, row)));
    case DatumForm::kInt2: return Int16GetDatum(static_cast<int16_t>(load<int32_t>(values, row)));
    case DatumForm::kUInt4: return ObjectIdGetDatum(static_cast<Oid>(load<int64_t>(values, row)));
    case DatumForm::kUInt8: return UInt64GetDatum(static_cast<uint64_t>(load<int64_t>(values, row) ^ INT64_MIN));
    case DatumForm::kHalf: return UInt16GetDatum(base::double_to_half(load<float>(values, row)));
    case DatumForm::kFloat4: return Float4GetDatum(load<float>(values, row));
    case DatumForm::kBytes6: return big_endian_datum(load<int64_t>(values, row), 6);
    case DatumForm::kBytes8: return big_endian_datum(load<int64_t>(values, row) ^ INT64_MIN, 8);
    case DatumForm::kBytes16: return copy_16_bytes(values, row);
    case DatumForm::kTid: return tid_datum(load<int64_t>(values, row));
    case DatumForm::kNumeric: {
      const auto number = load<__int128>(values, row);
      return type == registry::TypeId::kDecimal ? numeric_from_decimal(number) : numeric_from_int128(number, scale);
    }
    case DatumForm::kTimeTz: return timetz_datum(values, row);
    case DatumForm::kVarlena: return varlena_datum(type, length, load<registry::StrView>(values, row), check_text);
    case DatumForm::kInt4:
    case DatumForm::kInt8:
    case DatumForm::kFloat8:
    case DatumForm::kDate:
    case DatumForm::kTimestamp: break;
  }
  Datum loaded{0};
  (void)load_datum(type, values, row, &loaded);
  return loaded;
}

bool is_valid_text(registry::TypeId type, const void* values, int64_t row) {
  if (!registry::is_text(type)) return true;
  const auto text = load<registry::StrView>(values, row);
  return pg_verifymbstr(text.ptr, static_cast<int>(text.len), true);
}

}  // namespace strom::pg::codec
