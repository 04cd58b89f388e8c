// Writers of columnar values, one case for each form of Datums.
#include "pg/codec/encode.hpp"

#include <cstring>

#include "base/half.hpp"
#include "columnar/datum_form.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/numeric.hpp"

namespace strom::pg::codec {

using columnar::ColumnBuilder;
using columnar::Field;
using registry::DatumForm;
using registry::TypeId;

namespace {

constexpr int32_t kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
constexpr int64_t kEpochMicros = kEpochDays * USECS_PER_DAY;
constexpr int kMaxPrecision = 38;

struct Bytes {
  struct varlena* owned;  // freed after use, or nullptr
  const char* ptr;
  size_t size;
};

// Detoasts. The result is PostgreSQL memory, so that freeing it late does no harm.
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

// Reads `size` bytes as a number, the most significant byte first.
int64_t big_endian(Datum value, int size) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(DatumGetPointer(value));
  uint64_t number = 0;
  for (int i = 0; i < size; ++i) number = number << 8 | bytes[i];
  return static_cast<int64_t>(number);
}

// A tid as a number: the block in the high bits, the item below.
int64_t tid_word(Datum value) {
  const auto* tid = reinterpret_cast<ItemPointer>(DatumGetPointer(value));
  return static_cast<int64_t>(uint64_t{ItemPointerGetBlockNumberNoCheck(tid)} << columnar::heap::kItemBits) |
         ItemPointerGetOffsetNumberNoCheck(tid);
}

// The bits of a timetz, which is passed by reference and has 12 bytes.
__int128 timetz_bits(Datum value) {
  const TimeTzADT* time = DatumGetTimeTzADTP(value);
  const auto zone = static_cast<unsigned __int128>(static_cast<uint32_t>(time->zone));
  return static_cast<__int128>(zone << 64 | static_cast<uint64_t>(time->time));
}

__int128 bits_of(Datum value) {
  __int128 bits;
  std::memcpy(&bits, DatumGetPointer(value), sizeof bits);
  return bits;
}

// Appends values to a column.
struct Appender {
  ColumnBuilder& column;

  int scale() const { return column.field().scale; }
  Encoded put_bool(bool value) const {
    column.append_bool(value);
    return Encoded::kDone;
  }
  template <class T>
  Encoded put(T value) const {
    column.append(value);
    return Encoded::kDone;
  }
  Encoded put_int2(int16_t value) const { return put(value); }
  Encoded put_date(DateADT date) const {
    return DATE_NOT_FINITE(date) ? Encoded::kNotHeld : put(static_cast<int32_t>(date + kEpochDays));
  }
  Encoded put_timestamp(Timestamp micros) const {
    int64_t unix_micros = 0;
    if (TIMESTAMP_NOT_FINITE(micros) || __builtin_add_overflow(micros, kEpochMicros, &unix_micros))
      return Encoded::kNotHeld;
    return put(unix_micros);
  }
  Encoded put_bytes(const Bytes& bytes) const {
    column.append_bytes({bytes.ptr, bytes.size});
    return Encoded::kDone;
  }
};

// Writes the bytes of a register.
struct RegisterMaker {
  std::string* bytes;
  int decimal_scale;

  int scale() const { return decimal_scale; }
  Encoded put_bool(bool value) const { return put(static_cast<uint8_t>(value)); }
  template <class T>
  Encoded put(T value) const {
    bytes->assign(reinterpret_cast<const char*>(&value), sizeof(T));
    return Encoded::kDone;
  }
  Encoded put_int2(int16_t value) const { return put(int32_t{value}); }
  Encoded put_date(DateADT date) const { return put(static_cast<int32_t>(date)); }
  Encoded put_timestamp(Timestamp micros) const { return put(static_cast<int64_t>(micros)); }
  Encoded put_bytes(const Bytes& text) const {
    bytes->assign(text.ptr, text.size);
    return Encoded::kDone;
  }
};

template <class Target>
Encoded put_value(DatumForm form, Datum value, const Target& to) {
  switch (form) {
    case DatumForm::kBool: return to.put_bool(DatumGetBool(value));
    case DatumForm::kInt1: return to.put(int32_t{static_cast<int8_t>(DatumGetChar(value))});
    case DatumForm::kInt2: return to.put_int2(DatumGetInt16(value));
    case DatumForm::kInt4: return to.put(static_cast<int32_t>(DatumGetInt32(value)));
    case DatumForm::kInt8: return to.put(static_cast<int64_t>(DatumGetInt64(value)));
    case DatumForm::kUInt1: return to.put(static_cast<int32_t>(DatumGetUInt8(value)));
    case DatumForm::kUInt4: return to.put(static_cast<int64_t>(DatumGetUInt32(value)));
    case DatumForm::kUInt8: return to.put(static_cast<int64_t>(DatumGetUInt64(value)) ^ INT64_MIN);
    case DatumForm::kHalf: return to.put(base::half_to_float(DatumGetUInt16(value)));
    case DatumForm::kFloat4: return to.put(static_cast<float>(DatumGetFloat4(value)));
    case DatumForm::kFloat8: return to.put(static_cast<double>(DatumGetFloat8(value)));
    case DatumForm::kBytes6: return to.put(big_endian(value, 6));
    case DatumForm::kBytes8: return to.put(big_endian(value, 8) ^ INT64_MIN);
    case DatumForm::kBytes16: return to.put(bits_of(value));
    case DatumForm::kTid: return to.put(tid_word(value));
    case DatumForm::kVarlena: {
      const Bytes bytes = text_bytes(value);
      const Encoded outcome = to.put_bytes(bytes);
      release(bytes);
      return outcome;
    }
    case DatumForm::kNumeric: {
      __int128 unscaled = 0;
      return numeric_value(value, to.scale(), &unscaled) ? to.put(unscaled) : Encoded::kNotHeld;
    }
    case DatumForm::kDate: return to.put_date(DatumGetDateADT(value));
    case DatumForm::kTimestamp: return to.put_timestamp(DatumGetTimestamp(value));
    case DatumForm::kTimeTz: return to.put(timetz_bits(value));
  }
  pg_unreachable();
}

}  // namespace

Field field_for(TypeId type, int scale, std::string name) {
  Field field;
  field.name = std::move(name);
  const DatumForm form = registry::type_info(type).form;
  field.layout = columnar::layout_of(form);
  if (form == DatumForm::kNumeric) {
    field.precision = kMaxPrecision;
    field.scale = type == TypeId::kDecimal ? kOwnScale : scale;
  }
  if (type == TypeId::kTimestampTz) field.timezone = "UTC";
  return field;
}

Encoded append(ColumnBuilder& column, TypeId type, Datum value, bool is_null) {
  if (is_null) {
    column.append_null();
    return Encoded::kDone;
  }
  const Encoded outcome = put_value(registry::type_info(type).form, value, Appender{column});
  if (outcome == Encoded::kNotHeld) column.append_null();
  return outcome;
}

Encoded register_bytes(TypeId type, int scale, Datum value, std::string* bytes) {
  const RegisterMaker to{bytes, type == TypeId::kDecimal ? kOwnScale : scale};
  return put_value(registry::type_info(type).form, value, to);
}

}  // namespace strom::pg::codec
