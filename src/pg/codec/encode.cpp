// Writers of columnar values, one case for each SQL type of the engine.
#include "pg/codec/encode.hpp"

#include <cstring>

#include "base/half.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/numeric.hpp"

namespace strom::pg::codec {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;
using registry::TypeId;

namespace {

constexpr int32_t kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
constexpr int64_t kEpochMicros = kEpochDays * USECS_PER_DAY;
constexpr int kMaxPrecision = 38;

struct Bytes {
  struct varlena* owned;  // to be freed, or nullptr
  const char* ptr;
  size_t size;
};

// Detoasts; the result is PostgreSQL memory, so that freeing it late does no harm.
Bytes text_bytes(Datum value) {
  return boundary::guard([value] {
    auto* original = reinterpret_cast<struct varlena*>(DatumGetPointer(value));
    struct varlena* plain = pg_detoast_datum_packed(original);
    return Bytes{plain != original ? plain : nullptr, VARDATA_ANY(plain), VARSIZE_ANY_EXHDR(plain)};
  });
}

void release(const Bytes& bytes) {
  if (bytes.owned != nullptr) pfree(bytes.owned);
}

bool numeric_value(Datum value, int scale, __int128* unscaled) {
  return boundary::guard([=] {
    return scale == kOwnScale ? numeric_to_decimal(value, unscaled) : numeric_to_int128(value, scale, unscaled);
  });
}

// `size` bytes as a number, the first one highest.
int64_t big_endian(Datum value, int size) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(DatumGetPointer(value));
  uint64_t number = 0;
  for (int i = 0; i < size; ++i) number = number << 8 | bytes[i];
  return static_cast<int64_t>(number);
}

// Register values of types that lie in 64 bits, but for int8 and the timestamps.
int64_t word_of(TypeId type, Datum value) {
  switch (type) {
    case TypeId::kOid:
    case TypeId::kEnum: return DatumGetObjectId(value);
    case TypeId::kMoney: return DatumGetInt64(value);
    case TypeId::kMacaddr: return big_endian(value, 6);
    case TypeId::kMacaddr8: return big_endian(value, 8) ^ INT64_MIN;
    default: return DatumGetTimeADT(value);
  }
}

// Of timetz, which is 12 bytes by reference.
__int128 timetz_bits(Datum value) {
  const TimeTzADT* time = DatumGetTimeTzADTP(value);
  const auto zone = static_cast<unsigned __int128>(static_cast<uint32_t>(time->zone));
  return static_cast<__int128>(zone << 64 | static_cast<uint64_t>(time->time));
}

// Of interval and uuid, which are 16 bytes by reference.
__int128 bits_of(Datum value) {
  __int128 bits;
  std::memcpy(&bits, DatumGetPointer(value), sizeof bits);
  return bits;
}

template <class T>
void assign(std::string* bytes, T value) {
  bytes->assign(reinterpret_cast<const char*>(&value), sizeof(T));
}

}  // namespace

Field field_for(TypeId type, int scale, std::string name) {
  Field field;
  field.name = std::move(name);
  switch (type) {
    case TypeId::kBool: field.layout = Layout::kBool; break;
    case TypeId::kInt2: field.layout = Layout::kInt16; break;
    case TypeId::kInt4: field.layout = Layout::kInt32; break;
    case TypeId::kInt8: field.layout = Layout::kInt64; break;
    case TypeId::kFloat4: field.layout = Layout::kFloat32; break;
    case TypeId::kFloat8: field.layout = Layout::kFloat64; break;
    case TypeId::kNumeric:
      field.layout = Layout::kDecimal128;
      field.precision = kMaxPrecision;
      field.scale = scale;
      break;
    case TypeId::kDecimal:
      field.layout = Layout::kDecimal128;
      field.precision = kMaxPrecision;
      field.scale = kOwnScale;
      break;
    case TypeId::kDate: field.layout = Layout::kDate32; break;
    case TypeId::kTimestampTz: field.timezone = "UTC"; [[fallthrough]];
    case TypeId::kTimestamp: field.layout = Layout::kTimestamp; break;
    case TypeId::kInt1:
    case TypeId::kChar: field.layout = Layout::kInt32; break;
    case TypeId::kFloat2: field.layout = Layout::kFloat32; break;
    case TypeId::kTime:
    case TypeId::kOid:
    case TypeId::kMoney:
    case TypeId::kEnum:
    case TypeId::kMacaddr:
    case TypeId::kMacaddr8: field.layout = Layout::kInt64; break;
    case TypeId::kTimeTz:
    case TypeId::kInterval:
    case TypeId::kUuid: field.layout = Layout::kDecimal128; break;
    case TypeId::kText:
    case TypeId::kVarchar:
    case TypeId::kBytea:
    case TypeId::kInet:
    case TypeId::kCidr:
    case TypeId::kJsonb:
    case TypeId::kArray:
    case TypeId::kGeometry:
    case TypeId::kBpchar: field.layout = Layout::kLargeUtf8; break;
  }
  return field;
}

Encoded append(ColumnBuilder& column, TypeId type, Datum value, bool is_null) {
  if (is_null) {
    column.append_null();
    return Encoded::kDone;
  }
  bool declined = false;
  switch (type) {
    case TypeId::kBool: column.append_bool(DatumGetBool(value)); break;
    case TypeId::kInt2: column.append(DatumGetInt16(value)); break;
    case TypeId::kInt4: column.append(DatumGetInt32(value)); break;
    case TypeId::kInt8: column.append(static_cast<int64_t>(DatumGetInt64(value))); break;
    case TypeId::kFloat4: column.append(DatumGetFloat4(value)); break;
    case TypeId::kFloat8: column.append(DatumGetFloat8(value)); break;
    case TypeId::kNumeric:
    case TypeId::kDecimal: {
      __int128 unscaled = 0;
      declined = !numeric_value(value, column.field().scale, &unscaled);
      if (!declined) column.append(unscaled);
      break;
    }
    case TypeId::kDate: {
      const DateADT date = DatumGetDateADT(value);
      declined = DATE_NOT_FINITE(date);
      if (!declined) column.append(static_cast<int32_t>(date + kEpochDays));
      break;
    }
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz: {
      const Timestamp micros = DatumGetTimestamp(value);
      int64_t unix_micros = 0;
      declined = TIMESTAMP_NOT_FINITE(micros) || __builtin_add_overflow(micros, kEpochMicros, &unix_micros);
      if (!declined) column.append(unix_micros);
      break;
    }
    case TypeId::kInt1: column.append(int32_t{static_cast<int8_t>(DatumGetChar(value))}); break;
    case TypeId::kFloat2: column.append(base::half_to_float(DatumGetUInt16(value))); break;
    case TypeId::kChar: column.append(static_cast<int32_t>(DatumGetUInt8(value))); break;
    case TypeId::kTime:
    case TypeId::kOid:
    case TypeId::kMoney:
    case TypeId::kEnum:
    case TypeId::kMacaddr:
    case TypeId::kMacaddr8: column.append(word_of(type, value)); break;
    case TypeId::kTimeTz: column.append(timetz_bits(value)); break;
    case TypeId::kInterval:
    case TypeId::kUuid: column.append(bits_of(value)); break;
    case TypeId::kText:
    case TypeId::kVarchar:
    case TypeId::kBytea:
    case TypeId::kInet:
    case TypeId::kCidr:
    case TypeId::kJsonb:
    case TypeId::kArray:
    case TypeId::kGeometry:
    case TypeId::kBpchar: {
      const Bytes bytes = text_bytes(value);
      column.append_bytes({bytes.ptr, bytes.size});
      release(bytes);
      break;
    }
  }
  if (declined) column.append_null();
  return declined ? Encoded::kDeclined : Encoded::kDone;
}

Encoded register_bytes(TypeId type, int scale, Datum value, std::string* bytes) {
  switch (type) {
    case TypeId::kBool: assign(bytes, static_cast<uint8_t>(DatumGetBool(value))); break;
    case TypeId::kInt2: assign(bytes, static_cast<int32_t>(DatumGetInt16(value))); break;
    case TypeId::kInt4: assign(bytes, static_cast<int32_t>(DatumGetInt32(value))); break;
    case TypeId::kInt8: assign(bytes, static_cast<int64_t>(DatumGetInt64(value))); break;
    case TypeId::kFloat4: assign(bytes, static_cast<float>(DatumGetFloat4(value))); break;
    case TypeId::kFloat8: assign(bytes, static_cast<double>(DatumGetFloat8(value))); break;
    case TypeId::kNumeric:
    case TypeId::kDecimal: {
      __int128 unscaled = 0;
      if (!numeric_value(value, type == TypeId::kDecimal ? kOwnScale : scale, &unscaled)) return Encoded::kDeclined;
      assign(bytes, unscaled);
      break;
    }
    case TypeId::kDate: assign(bytes, static_cast<int32_t>(DatumGetDateADT(value))); break;
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz: assign(bytes, static_cast<int64_t>(DatumGetTimestamp(value))); break;
    case TypeId::kInt1: assign(bytes, int32_t{static_cast<int8_t>(DatumGetChar(value))}); break;
    case TypeId::kFloat2: assign(bytes, base::half_to_float(DatumGetUInt16(value))); break;
    case TypeId::kChar: assign(bytes, static_cast<int32_t>(DatumGetUInt8(value))); break;
    case TypeId::kTime:
    case TypeId::kOid:
    case TypeId::kMoney:
    case TypeId::kEnum:
    case TypeId::kMacaddr:
    case TypeId::kMacaddr8: assign(bytes, word_of(type, value)); break;
    case TypeId::kTimeTz: assign(bytes, timetz_bits(value)); break;
    case TypeId::kInterval:
    case TypeId::kUuid: assign(bytes, bits_of(value)); break;
    case TypeId::kText:
    case TypeId::kVarchar:
    case TypeId::kBytea:
    case TypeId::kInet:
    case TypeId::kCidr:
    case TypeId::kJsonb:
    case TypeId::kArray:
    case TypeId::kGeometry:
    case TypeId::kBpchar: {
      const Bytes text = text_bytes(value);
      bytes->assign(text.ptr, text.size);
      release(text);
      break;
    }
  }
  return Encoded::kDone;
}

}  // namespace strom::pg::codec
