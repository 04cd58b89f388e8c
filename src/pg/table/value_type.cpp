#include "pg/table/value_type.hpp"

#include "base/int128.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"

namespace strom::pg::table {

using boundary::guard;
using engine::plan::ValueType;
using registry::TypeId;

namespace {

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

}  // namespace

Result<ValueType> value_type_of(Oid type, int32_t typmod) {
  const registry::TypeInfo* info = guard([type] { return codec::engine_type(type); });
  if (info == nullptr) return unsupported("type " + codec::type_name({type, -1}) + " is not supported");
  typmod = guard([=] { return codec::base_type({type, typmod}).typmod; });
  ValueType value{info->id, 0};
  if (info->id == TypeId::kVarchar) value.type = TypeId::kText;
  if (info->id == TypeId::kCidr) value.type = TypeId::kInet;
  const bool has_text = registry::is_text(info->id) || info->id == TypeId::kJsonb || info->id == TypeId::kArray;
  // The engine supports single-byte encodings and UTF-8.
  if (has_text && GetDatabaseEncoding() != PG_UTF8 && pg_database_encoding_max_length() > 1)
    return unsupported("text in a multibyte database encoding other than UTF8");
  if (info->id == TypeId::kNumeric) {
    const int scale = typmod < VARHDRSZ ? -1 : (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
    const bool fixed =
        scale >= 0 && scale <= base::kMaxDecimalDigits && ((typmod - VARHDRSZ) >> 16) <= base::kMaxDecimalDigits;
    if (fixed)
      value.scale = static_cast<int16_t>(scale);
    else
      value.type = TypeId::kDecimal;
  }
  return value;
}

void set_type(ColumnFacts* facts, Oid type, int32_t typmod) {
  auto value = value_type_of(type, typmod);
  if (value.is_ok()) {
    facts->type = value.value();
    facts->readable = true;
    return;
  }
  const std::string reason = value.status().message();
  const char* text = reason.c_str();
  facts->reason = guard([text] { return pstrdup(text); });
}

bool is_numeric(Oid type) { return getBaseType(type) == NUMERICOID; }

}  // namespace strom::pg::table
