// Readers of columnar values, one for each layout.
#include "pg/codec/decode.hpp"

#include <cstring>

#include "base/half.hpp"
#include "base/int128.hpp"
#include "columnar/text.hpp"
#include "pg/codec/numeric.hpp"

namespace strom::pg::codec {

using columnar::Layout;
using columnar::TimeUnit;

namespace {

constexpr int32_t kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;  // 1970-01-01 to 2000-01-01
constexpr int64_t kEpochMicros = kEpochDays * USECS_PER_DAY;
constexpr int64_t kMillisPerDay = SECS_PER_DAY * INT64CONST(1000);

// Buffers in a file need not be aligned.
template <class T>
T load(const void* values, int64_t row) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

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

Datum read_float8(const Decoder& d, int64_t row) { return Float8GetDatum(load<double>(d.view.values, row)); }

Datum numeric_from_decimal(__int128 decimal) {
  return numeric_from_int128(base::decimal_unscaled(decimal), base::decimal_scale(decimal));
}

template <class T>
Datum read_decimal(const Decoder& d, int64_t row) {
  const __int128 value = load<T>(d.view.values, row);
  return d.scale == kOwnScale ? numeric_from_decimal(value) : numeric_from_int128(value, d.scale);
}

// For an ereport about a value: where it stands, if that is known.
int errcontext_place(const Decoder& d, int64_t row) {
  if (d.place == nullptr) return 0;
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

// Units finer than a microsecond are cut off towards the past.
template <int64_t kMultiplier, int64_t kDivisor>
Datum read_timestamp(const Decoder& d, int64_t row) {
  const auto stored = load<int64_t>(d.view.values, row);
  int64_t micros = floor_div(stored, kDivisor);
  const bool overflow =
      __builtin_mul_overflow(micros, kMultiplier, &micros) || __builtin_sub_overflow(micros, kEpochMicros, &micros);
  if (overflow || !IS_VALID_TIMESTAMP(micros))
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE), errmsg("timestamp out of range"),
                    errdetail("The stored value is %lld.", static_cast<long long>(stored)), errcontext_place(d, row)));
  return TimestampGetDatum(micros);
}

// Blanks up to `length` characters (char(n)) behind a value of the server's encoding.
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

// The bytes are copied before they are checked, because those in a file can change meanwhile.
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

// Types of PostgreSQL alone, as codec::field_for() lays them out: in register layout, or as a text.
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

template <registry::TypeId type>
Datum read_register(const Decoder& d, int64_t row) {
  return datum_from_register(type, 0, -1, d.view.values, row);
}

// `size` bytes by reference, the highest of the number first.
Datum big_endian_datum(int64_t number, int size) {
  auto* bytes = static_cast<uint8_t*>(palloc(static_cast<Size>(size)));
  for (int i = size; i-- > 0; number >>= 8) bytes[i] = static_cast<uint8_t>(number);
  return PointerGetDatum(bytes);
}

Datum timetz_datum(const void* values, int64_t row) {
  const auto bits = load<unsigned __int128>(values, row);
  auto* time = static_cast<TimeTzADT*>(palloc(sizeof(TimeTzADT)));
  time->time = static_cast<TimeADT>(static_cast<uint64_t>(bits));
  time->zone = static_cast<int32_t>(static_cast<uint32_t>(bits >> 64));
  return TimeTzADTPGetDatum(time);
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
    case Layout::kFloat64: return read_float8;
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
  }
  pg_unreachable();
}

// Of the types that only PostgreSQL has; nullptr for others.
Read reader_of(Oid type) {
  using registry::TypeId;
  switch (type) {
    case BYTEAOID:
    case ANYARRAYOID:
    case JSONBOID:
    case INETOID:
    case CIDROID: return read_bytea;
    case UUIDOID: return read_register<TypeId::kUuid>;
    case INTERVALOID: return read_register<TypeId::kInterval>;
    case TIMETZOID: return read_register<TypeId::kTimeTz>;
    case OIDOID: return read_register<TypeId::kOid>;
    case ANYENUMOID: return read_register<TypeId::kEnum>;
    case CHAROID: return read_register<TypeId::kChar>;
    case registry::type_info(TypeId::kInt1).pg_oid: return read_register<TypeId::kInt1>;
    case registry::type_info(TypeId::kFloat2).pg_oid: return read_register<TypeId::kFloat2>;
    case MACADDROID: return read_register<TypeId::kMacaddr>;
    case MACADDR8OID: return read_register<TypeId::kMacaddr8>;
    default: return nullptr;
  }
}

}  // namespace

Decoder make_decoder(const columnar::Field& field, SqlType declared) {
  Decoder decoder;
  decoder.read = reader_of(declared.oid);
  if (decoder.read == nullptr) decoder.read = reader_of(field);
  decoder.scale = field.scale;
  if (declared.oid == BPCHAROID && declared.typmod >= VARHDRSZ) decoder.length = declared.typmod - VARHDRSZ;
  return decoder;
}

Datum datum_from_register(registry::TypeId type, int scale, int32_t length, const void* values, int64_t row,
                          bool check_text) {
  using registry::TypeId;
  switch (type) {
    case TypeId::kBool: return BoolGetDatum(load<uint8_t>(values, row) != 0);
    case TypeId::kInt2: return Int16GetDatum(static_cast<int16_t>(load<int32_t>(values, row)));
    case TypeId::kInt4: return Int32GetDatum(load<int32_t>(values, row));
    case TypeId::kInt8: return Int64GetDatum(load<int64_t>(values, row));
    case TypeId::kFloat4: return Float4GetDatum(load<float>(values, row));
    case TypeId::kFloat8: return Float8GetDatum(load<double>(values, row));
    case TypeId::kNumeric: return numeric_from_int128(load<__int128>(values, row), scale);
    case TypeId::kDecimal: return numeric_from_decimal(load<__int128>(values, row));
    case TypeId::kDate: return DateADTGetDatum(load<int32_t>(values, row));
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz: return TimestampGetDatum(load<int64_t>(values, row));
    case TypeId::kTime: return TimeADTGetDatum(load<int64_t>(values, row));
    case TypeId::kOid:
    case TypeId::kEnum: return ObjectIdGetDatum(static_cast<Oid>(load<int64_t>(values, row)));
    case TypeId::kInt1:
    case TypeId::kChar: return CharGetDatum(static_cast<char>(load<int32_t>(values, row)));
    case TypeId::kFloat2: return UInt16GetDatum(base::double_to_half(load<float>(values, row)));
    case TypeId::kMoney: return Int64GetDatum(load<int64_t>(values, row));
    case TypeId::kMacaddr: return big_endian_datum(load<int64_t>(values, row), 6);
    case TypeId::kMacaddr8: return big_endian_datum(load<int64_t>(values, row) ^ INT64_MIN, 8);
    case TypeId::kTimeTz: return timetz_datum(values, row);
    case TypeId::kInterval:
    case TypeId::kUuid: return copy_16_bytes(values, row);
    case TypeId::kJsonb:
    case TypeId::kArray:
    case TypeId::kBytea:
    case TypeId::kInet:
    case TypeId::kCidr: {
      const auto bytes = load<registry::StrView>(values, row);
      return PointerGetDatum(copy_text(bytes.ptr, bytes.len));
    }
    case TypeId::kText:
    case TypeId::kVarchar:
    case TypeId::kBpchar: {
      const auto text = load<registry::StrView>(values, row);
      struct varlena* value = copy_text(text.ptr, text.len);
      if (check_text) pg_verifymbstr(VARDATA(value), static_cast<int>(text.len), false);
      return PointerGetDatum(type == TypeId::kBpchar && length >= 0 ? pad_to_length(value, length) : value);
    }
  }
  pg_unreachable();
}

bool is_valid_text(registry::TypeId type, const void* values, int64_t row) {
  if (!registry::is_text(type)) return true;
  const auto text = load<registry::StrView>(values, row);
  return pg_verifymbstr(text.ptr, static_cast<int>(text.len), true);
}

}  // namespace strom::pg::codec
