// Writers of columnar values, one case for each SQL type of the engine.
#include "pg/codec/encode.hpp"

#include <cstring>

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
    case TypeId::kTime: field.layout = Layout::kInt64; break;
    case TypeId::kInterval:
    case TypeId::kUuid: field.layout = Layout::kDecimal128; break;
    case TypeId::kText:
    case TypeId::kVarchar:
    case TypeId::kBytea:
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
    case TypeId::kInt2: column.append_value(DatumGetInt16(value)); break;
    case TypeId::kInt4: column.append_value(DatumGetInt32(value)); break;
    case TypeId::kInt8: column.append_value(static_cast<int64_t>(DatumGetInt64(value))); break;
    case TypeId::kFloat4: column.append_value(DatumGetFloat4(value)); break;
    case TypeId::kFloat8: column.append_value(DatumGetFloat8(value)); break;
    case TypeId::kNumeric:
    case TypeId::kDecimal: {
      __int128 unscaled = 0;
      declined = !numeric_value(value, column.field().scale, &unscaled);
      if (!declined) column.append_value(unscaled);
      break;
    }
    case TypeId::kDate: {
      const DateADT date = DatumGetDateADT(value);
      declined = DATE_NOT_FINITE(date);
      if (!declined) column.append_value(static_cast<int32_t>(date + kEpochDays));
      break;
    }
    case TypeId::kTimestamp:
    case TypeId::kTimestampTz: {
      const Timestamp micros = DatumGetTimestamp(value);
      int64_t unix_micros = 0;
      declined = TIMESTAMP_NOT_FINITE(micros) || __builtin_add_overflow(micros, kEpochMicros, &unix_micros);
      if (!declined) column.append_value(unix_micros);
      break;
    }
    case TypeId::kTime: column.append_value(static_cast<int64_t>(DatumGetTimeADT(value))); break;
    case TypeId::kInterval:
    case TypeId::kUuid: column.append_value(bits_of(value)); break;
    case TypeId::kText:
    case TypeId::kVarchar:
    case TypeId::kBytea:
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
    case TypeId::kTime: assign(bytes, static_cast<int64_t>(DatumGetTimeADT(value))); break;
    case TypeId::kInterval:
    case TypeId::kUuid: assign(bytes, bits_of(value)); break;
    case TypeId::kText:
    case TypeId::kVarchar:
    case TypeId::kBytea:
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
