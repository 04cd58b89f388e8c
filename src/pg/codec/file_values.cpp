// See file_values.hpp.
#include "pg/codec/file_values.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#include "base/half.hpp"
#include "columnar/schema.hpp"

namespace strom::pg::codec {

namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

constexpr const char* kOtherRange = "a number outside of the range of the file's type";

int64_t from_int2(Datum value) { return DatumGetInt16(value); }
int64_t from_int4(Datum value) { return DatumGetInt32(value); }
int64_t from_int8(Datum value) { return DatumGetInt64(value); }

template <class T, int64_t (*kGet)(Datum)>
void append_integer(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const int64_t number = kGet(value);
  if (!std::in_range<T>(number)) refuse_value(writer, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, kOtherRange);
  to.append(static_cast<T>(number));
}

/// A numeric that is a whole number, because UInt64 is read as numeric.
void append_uint64(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const struct varlena* stored = pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(value)));
  base::int128 number = 0;
  if (!writer.numeric.read(VARDATA_ANY(stored), VARSIZE_ANY_EXHDR(stored), &number) || number < 0 ||
      number > base::int128{UINT64_MAX})
    refuse_value(writer, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, kOtherRange);
  to.append(static_cast<uint64_t>(number));
}

double from_float4(Datum value) { return DatumGetFloat4(value); }
double from_float8(Datum value) { return DatumGetFloat8(value); }
double from_half(Datum value) { return base::half_to_float(DatumGetUInt16(value)); }

template <double (*kGet)(Datum)>
void append_real(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const double number = kGet(value);
  double stored = number;
  if (writer.field->layout == Layout::kFloat64) {
    to.append(number);
  } else if (writer.field->layout == Layout::kFloat32) {
    stored = static_cast<float>(number);
    to.append(static_cast<float>(number));
  } else {
    const uint16_t half = base::double_to_half(number);
    stored = base::half_to_float(half);
    to.append(half);
  }
  if (stored != number && !std::isnan(number))
    refuse_value(writer, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, "a number with digits that the file's type does not have");
}

/// bytea, and char(n) in UTF-8. Text that is shorter than the field is padded with blanks.
template <bool kIsText>
void append_bytes(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const struct varlena* plain = pg_detoast_datum_packed(reinterpret_cast<struct varlena*>(DatumGetPointer(value)));
  const char* bytes = VARDATA_ANY(plain);
  auto size = static_cast<int64_t>(VARSIZE_ANY_EXHDR(plain));
  const int64_t width = writer.field->byte_width;
  if (kIsText && GetDatabaseEncoding() != PG_UTF8) {
    const char* converted = pg_server_to_any(bytes, static_cast<int>(size), PG_UTF8);
    if (converted != bytes) size = static_cast<int64_t>(std::strlen(converted));
    bytes = converted;
  }
  while (kIsText && size > width && bytes[size - 1] == ' ') --size;
  if (kIsText ? size > width : size != width)
    refuse_value(writer, ERRCODE_STRING_DATA_RIGHT_TRUNCATION, "a value of another length than the file's type");
  uint8_t* place = to.append_fixed();
  std::memcpy(place, bytes, static_cast<size_t>(size));
  if (size < width) std::memset(place + size, ' ', static_cast<size_t>(width - size));
}

/// inet and cidr as an address without the netmask.
void append_address(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const auto* address = DatumGetInetPP(value);
  const int size = ip_addrsize(address);
  if (size != writer.field->byte_width || ip_bits(address) != 8 * size)
    refuse_value(writer, ERRCODE_STRING_DATA_RIGHT_TRUNCATION, "an address of another length than the file's type");
  std::memcpy(to.append_fixed(), ip_addr(address), static_cast<size_t>(size));
}

constexpr const char* kOtherInterval = "an interval that the file's type does not have";

/// An interval without months as a duration; a day has 24 hours.
void append_duration(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const Interval* interval = DatumGetIntervalP(value);
  if (interval->month != 0) refuse_value(writer, ERRCODE_INTERVAL_FIELD_OVERFLOW, kOtherInterval);
  __int128 units = __int128{interval->day} * USECS_PER_DAY + interval->time;
  if (writer.per_unit == 0) {
    units *= 1000;
  } else {
    if (units % writer.per_unit != 0) refuse_value(writer, ERRCODE_INTERVAL_FIELD_OVERFLOW, kOtherInterval);
    units /= writer.per_unit;
  }
  if (units != static_cast<int64_t>(units)) refuse_value(writer, ERRCODE_INTERVAL_FIELD_OVERFLOW, kOtherInterval);
  to.append(static_cast<int64_t>(units));
}

void append_months(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  const Interval* interval = DatumGetIntervalP(value);
  if (interval->day != 0 || interval->time != 0) refuse_value(writer, ERRCODE_INTERVAL_FIELD_OVERFLOW, kOtherInterval);
  to.append(interval->month);
}

void append_days_and_millis(const ValueWriter& writer, ColumnBuilder& to, Datum value) {
  constexpr int64_t kMicros = 1000;
  const Interval* interval = DatumGetIntervalP(value);
  const int64_t millis = interval->time / kMicros;
  if (interval->month != 0 || interval->time % kMicros != 0 || !std::in_range<int32_t>(millis))
    refuse_value(writer, ERRCODE_INTERVAL_FIELD_OVERFLOW, kOtherInterval);
  const int32_t parts[2] = {interval->day, static_cast<int32_t>(millis)};
  std::memcpy(to.append_fixed(), parts, sizeof(parts));
}

template <class T>
AppendValue integer_writer(Oid type) {
  switch (type) {
    case INT2OID: return append_integer<T, from_int2>;
    case INT4OID: return append_integer<T, from_int4>;
    case INT8OID: return append_integer<T, from_int8>;
    default: return nullptr;
  }
}

}  // namespace

AppendValue file_value_writer(const Field& file, Oid type, bool is_half) {
  switch (file.layout) {
    case Layout::kInt8: return integer_writer<int8_t>(type);
    case Layout::kUInt8: return integer_writer<uint8_t>(type);
    case Layout::kInt16: return integer_writer<int16_t>(type);
    case Layout::kUInt16: return integer_writer<uint16_t>(type);
    case Layout::kInt32: return integer_writer<int32_t>(type);
    case Layout::kUInt32: return integer_writer<uint32_t>(type);
    case Layout::kInt64: return integer_writer<int64_t>(type == CASHOID ? Oid{INT8OID} : type);
    case Layout::kUInt64: return type == NUMERICOID ? append_uint64 : integer_writer<uint64_t>(type);
    case Layout::kFloat16:
    case Layout::kFloat32:
    case Layout::kFloat64:
      if (is_half) return append_real<from_half>;
      return type == FLOAT4OID ? append_real<from_float4> : type == FLOAT8OID ? append_real<from_float8> : nullptr;
    case Layout::kFixedBinary:
      if (type == INETOID || type == CIDROID) return append_address;
      return type == BYTEAOID ? append_bytes<false> : type == BPCHAROID ? append_bytes<true> : nullptr;
    case Layout::kDuration: return type == INTERVALOID ? append_duration : nullptr;
    case Layout::kIntervalMonths: return type == INTERVALOID ? append_months : nullptr;
    case Layout::kIntervalDayTime: return type == INTERVALOID ? append_days_and_millis : nullptr;
    default: return nullptr;
  }
}

}  // namespace strom::pg::codec
