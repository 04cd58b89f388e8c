#include "pg/kv_server/values.hpp"

#include <cstring>

#include "pg/store/server_headers.hpp"

namespace strom::pg::kv_server {

namespace {

namespace message = ::strom::store::message;
using store::rows::Cell;

template <class T>
T read(std::string_view bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

bool is_text(std::string_view bytes) { return pg_verifymbstr(bytes.data(), static_cast<int>(bytes.size()), true); }

/// Text of clients is UTF-8, but where the database does not know its encoding. nullptr: it is not. Raises an error if
/// the database's encoding lacks a character.
char* to_database_encoding(std::string_view bytes) {
  const int length = static_cast<int>(bytes.size());
  const int encoding = GetDatabaseEncoding() == PG_SQL_ASCII ? PG_SQL_ASCII : PG_UTF8;
  if (!pg_verify_mbstr(encoding, bytes.data(), length, true)) return nullptr;
  return pg_any_to_server(pnstrdup(bytes.data(), bytes.size()), length, encoding);
}

bool has_length(std::string_view text, int32_t typmod) {
  if (typmod < 0) return true;
  return pg_mbstrlen_with_len(text.data(), static_cast<int>(text.size())) <= typmod - static_cast<int>(VARHDRSZ);
}

/// True if the bytes are a valid value in stored form, with the column's width if it has one. False for types that are
/// not checked here: their values are only taken as text.
bool is_stored_value(const store::StoreColumn& column, std::string_view bytes) {
  const bool has_precision = column.typmod >= 0;  // of times, which would need rounding
  switch (column.type) {
    case BOOLOID: return static_cast<uint8_t>(bytes[0]) <= 1;
    case INT2OID: return read<int32_t>(bytes) >= INT16_MIN && read<int32_t>(bytes) <= INT16_MAX;
    case OIDOID: return read<uint64_t>(bytes) <= UINT32_MAX;
    case CHAROID: return read<uint32_t>(bytes) <= UINT8_MAX;
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case CASHOID:
    case UUIDOID:
    case BYTEAOID: return true;
    case DATEOID: {
      const DateADT date = read<int32_t>(bytes);
      return DATE_NOT_FINITE(date) || IS_VALID_DATE(date);
    }
    case TIMEOID: return !has_precision && read<int64_t>(bytes) >= 0 && read<int64_t>(bytes) <= USECS_PER_DAY;
    case TIMESTAMPOID:
    case TIMESTAMPTZOID: {
      const Timestamp time = read<int64_t>(bytes);
      return !has_precision && (TIMESTAMP_NOT_FINITE(time) || IS_VALID_TIMESTAMP(time));
    }
    case TEXTOID: return is_text(bytes);
    case VARCHAROID: return is_text(bytes) && has_length(bytes, column.typmod);
    default: break;
  }
  ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                  errmsg("values of type %s are taken as text only", format_type_be(column.type))));
  return false;
}

}  // namespace

bool take_value(const store::StoreColumn& column, const message::Field& field, store::CellSpace* space, Cell* cell) {
  if (field.form == message::Form::kNull) {
    *cell = {};
    // A domain may still refuse the value.
    if (get_typtype(column.type) != TYPTYPE_DOMAIN) return true;
  }
  if (field.form == message::Form::kStored) {
    if (column.codec != store::Codec::kVarlena && field.bytes.size() != column.width) return false;
    *cell = store::rows::cell_of(field.bytes);
    return is_stored_value(column, field.bytes);
  }
  Oid input, parameter;
  getTypeInputInfo(column.type, &input, &parameter);
  if (field.form == message::Form::kNull) {
    OidInputFunctionCall(input, nullptr, parameter, column.typmod);
    return true;
  }
  char* text = to_database_encoding(field.bytes);
  if (text == nullptr) return false;
  store::set_cell(column, OidInputFunctionCall(input, text, parameter, column.typmod), false, space, cell);
  return true;
}

}  // namespace strom::pg::kv_server
