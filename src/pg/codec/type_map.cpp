// Mapping between columnar layouts and SQL types.
#include "pg/codec/type_map.hpp"

#include <cstring>

#include "columnar/layout.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::codec {

using columnar::Field;
using columnar::Layout;
using columnar::TimeUnit;

namespace {

// A numeric's modifier packs precision and an 11-bit signed scale behind the varlena header size.
int32_t numeric_typmod(int precision, int scale) { return ((precision << 16) | (scale & 0x7ff)) + VARHDRSZ; }
int numeric_typmod_precision(int32_t typmod) { return ((typmod - VARHDRSZ) >> 16) & 0xffff; }
int numeric_typmod_scale(int32_t typmod) { return (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024; }

constexpr int kMaxDecimalScale = 38;  // digits of a 128-bit decimal; numeric's short header takes it too

bool is_utf8(Layout layout) {
  return layout == Layout::kUtf8 || layout == Layout::kLargeUtf8 || layout == Layout::kUtf8View;
}

const char* unit_name(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond: return "s";
    case TimeUnit::kMilli: return "ms";
    case TimeUnit::kMicro: return "us";
    case TimeUnit::kNano: return "ns";
  }
  return "?";
}

}  // namespace

std::string unsupported_feature(const Field& field) {
  if (!field.unsupported.empty()) return field.unsupported;
  if (columnar::is_decimal(field.layout) && (field.scale < 0 || field.scale > kMaxDecimalScale))
    return "decimal scale " + std::to_string(field.scale);
  if (field.layout == Layout::kFixedBinary && (field.byte_width <= 0 || field.byte_width > MaxAttrSize))
    return "fixed size binary of width " + std::to_string(field.byte_width);
  return {};
}

SqlType sql_type_of(const Field& field) {
  if (!unsupported_feature(field).empty()) return {};
  switch (field.layout) {
    case Layout::kBool: return {BOOLOID, -1};
    case Layout::kInt8:
    case Layout::kUInt8:
    case Layout::kInt16: return {INT2OID, -1};
    case Layout::kUInt16:
    case Layout::kInt32: return {INT4OID, -1};
    case Layout::kUInt32:
    case Layout::kInt64: return {INT8OID, -1};
    case Layout::kFloat32: return {FLOAT4OID, -1};
    case Layout::kFloat64: return {FLOAT8OID, -1};
    case Layout::kDecimal32:
    case Layout::kDecimal64:
    case Layout::kDecimal128: return {NUMERICOID, numeric_typmod(field.precision, field.scale)};
    case Layout::kDate32:
    case Layout::kDate64: return {DATEOID, -1};
    case Layout::kTimestamp: return {static_cast<Oid>(field.timezone.empty() ? TIMESTAMPOID : TIMESTAMPTZOID), -1};
    case Layout::kUtf8:
    case Layout::kLargeUtf8:
    case Layout::kUtf8View: return {TEXTOID, -1};
    case Layout::kFixedBinary: return {BPCHAROID, field.byte_width + VARHDRSZ};
    case Layout::kDictionary: break;
  }
  return {};
}

Fit fit(const Field& field, SqlType declared) {
  const SqlType mapped = sql_type_of(field);
  if (mapped.oid == InvalidOid) return Fit::kNone;
  if (is_utf8(field.layout)) {
    if (declared.oid == BPCHAROID) return Fit::kConverted;
    const bool same_text = declared.oid == TEXTOID || declared.oid == VARCHAROID;
    if (!same_text) return Fit::kNone;
    return GetDatabaseEncoding() == PG_UTF8 ? Fit::kExact : Fit::kConverted;
  }
  if (declared.oid != mapped.oid) return Fit::kNone;
  if (field.layout == Layout::kFixedBinary) {
    return declared.typmod < 0 || declared.typmod == mapped.typmod ? Fit::kExact : Fit::kNone;
  }
  if (columnar::is_decimal(field.layout) && declared.typmod >= 0) {
    const bool holds = numeric_typmod_scale(declared.typmod) == field.scale &&
                       numeric_typmod_precision(declared.typmod) >= field.precision;
    return holds ? Fit::kExact : Fit::kNone;
  }
  return Fit::kExact;
}

namespace {

// int1 and float2 stand in pg_catalog beside their wider relatives, with OIDs of their own in each database.
const registry::TypeInfo* own_type(Oid type) {
  const registry::TypeInfo* found = nullptr;
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return nullptr;
  const auto* row = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
  if (row->typnamespace == PG_CATALOG_NAMESPACE && row->typtype == TYPTYPE_BASE) {
    const char* name = NameStr(row->typname);
    if (row->typlen == 1 && std::strcmp(name, "int1") == 0) found = &registry::type_info(registry::TypeId::kInt1);
    if (row->typlen == 2 && std::strcmp(name, "float2") == 0) found = &registry::type_info(registry::TypeId::kFloat2);
  }
  ReleaseSysCache(tuple);
  return found;
}

}  // namespace

const registry::TypeInfo* engine_type(Oid type) {
  if (const registry::TypeInfo* info = registry::find_type(type)) return info;
  const Oid base = type < FirstGenbkiObjectId ? type : getBaseType(type);
  if (OidIsValid(get_element_type(base))) return &registry::type_info(registry::TypeId::kArray);
  if (type < FirstGenbkiObjectId) return nullptr;  // built in, and no domain
  if (get_typtype(base) == TYPTYPE_ENUM) return &registry::type_info(registry::TypeId::kEnum);
  const registry::TypeInfo* info = registry::find_type(base);
  return info != nullptr ? info : own_type(base);
}

SqlType base_type(SqlType type) {
  if (registry::find_type(type.oid) == nullptr) type.oid = getBaseTypeAndTypmod(type.oid, &type.typmod);
  return type;
}

std::string type_name(SqlType type) {
  return boundary::guard([=] { return format_type_with_typemod(type.oid, type.typmod); });
}

std::string arrow_type_name(const Field& field) {
  if (!field.unsupported.empty()) return field.unsupported;
  std::string name = (field.dictionary ? "dictionary-encoded " : "") + std::string(columnar::layout_name(field.layout));
  if (columnar::is_decimal(field.layout))
    name += "(" + std::to_string(field.precision) + "," + std::to_string(field.scale) + ")";
  if (field.layout == Layout::kTimestamp)
    name += std::string("(") + unit_name(field.unit) + (field.timezone.empty() ? ")" : ", " + field.timezone + ")");
  if (field.layout == Layout::kFixedBinary) name += "(" + std::to_string(field.byte_width) + ")";
  return name;
}

}  // namespace strom::pg::codec
