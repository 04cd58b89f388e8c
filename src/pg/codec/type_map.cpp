// Mapping between columnar layouts and SQL types.
#include "pg/codec/type_map.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "columnar/layout.hpp"
#include "columnar/sql_type.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::codec {

using columnar::Field;
using columnar::Layout;

namespace {

// A numeric's modifier packs precision and an 11-bit signed scale behind the varlena header size.
int32_t numeric_typmod(int precision, int scale) { return ((precision << 16) | (scale & 0x7ff)) + VARHDRSZ; }
int numeric_typmod_precision(int32_t typmod) { return ((typmod - VARHDRSZ) >> 16) & 0xffff; }
int numeric_typmod_scale(int32_t typmod) { return (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024; }

/// True if type `to` contains all values of type `from`.
bool widens(Oid from, Oid to) {
  switch (to) {
    case INT4OID: return from == INT2OID;
    case INT8OID: return from == INT2OID || from == INT4OID;
    case FLOAT8OID: return from == FLOAT4OID;
    default: return false;
  }
}

// Finds a type of another extension, through pg_depend. May ereport.
const registry::TypeInfo* type_of_other_extension(Oid type, const char* name) {
  for (const registry::TypeInfo& info : registry::kTypes) {
    const char* extension = registry::extension_of(info.id);
    if (extension == nullptr || std::strcmp(name, info.pg_name) != 0) continue;
    const Oid owner = get_extension_oid(extension, true);
    if (OidIsValid(owner) && getExtensionOfObject(TypeRelationId, type) == owner) return &info;
  }
  return nullptr;
}

// int1 and float2 are in pg_catalog beside their wider relatives; their OIDs differ between databases. Types of other
// extensions can be in any schema.
const registry::TypeInfo* own_type(Oid type) {
  const registry::TypeInfo* found = nullptr;
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return nullptr;
  const auto* row = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
  if (row->typnamespace == PG_CATALOG_NAMESPACE && row->typtype == TYPTYPE_BASE) {
    const char* name = NameStr(row->typname);
    if (row->typlen == 1 && std::strcmp(name, "int1") == 0) found = &registry::type_info(registry::TypeId::kInt1);
    if (row->typlen == 2 && std::strcmp(name, "float2") == 0) found = &registry::type_info(registry::TypeId::kFloat2);
  } else if (row->typlen == -1 && row->typtype == TYPTYPE_BASE) {
    found = type_of_other_extension(type, NameStr(row->typname));
  }
  ReleaseSysCache(tuple);
  return found;
}

constexpr int kMostEngineScale = 38;  // digits of a 128-bit decimal

bool has_engine_scale(const Field& field) { return field.scale >= 0 && field.scale <= kMostEngineScale; }

const std::string* find_metadata(const Field& field, std::string_view key) {
  for (const auto& [name, value] : field.metadata)
    if (name == key) return &value;
  return nullptr;
}

// The type called `name` in a schema, or InvalidOid. May ereport.
Oid type_in_schema(Oid schema, const char* name) {
  return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, PointerGetDatum(name), ObjectIdGetDatum(schema));
}

// The type called `name` that belongs to `extension`, in whatever schema it is; or InvalidOid. May ereport.
Oid type_of_extension(const char* extension, const char* name) {
  const Oid owner = get_extension_oid(extension, true);
  if (!OidIsValid(owner)) return InvalidOid;
  Oid type = InvalidOid;
  CatCList* list = SearchSysCacheList1(TYPENAMENSP, CStringGetDatum(name));
  for (int i = 0; i < list->n_members; ++i) {
    const Oid found = reinterpret_cast<Form_pg_type>(GETSTRUCT(&list->members[i]->tuple))->oid;
    if (getExtensionOfObject(TypeRelationId, found) == owner) type = found;
  }
  ReleaseSysCacheList(list);
  return type;
}

bool is_column_type(Oid type) {
  return OidIsValid(type) && get_typtype(type) != TYPTYPE_PSEUDO && get_typisdefined(type);
}

// Finds "schema.name" or "schema.name@extension". The names are not quoted, so a dot may belong to either name.
Oid find_named_type(const std::string& text) {
  const size_t mark = text.rfind('@');
  const std::string full = text.substr(0, mark), extension = mark == std::string::npos ? "" : text.substr(mark + 1);
  for (size_t dot = full.find('.'); dot != std::string::npos; dot = full.find('.', dot + 1)) {
    const std::string schema = full.substr(0, dot), name = full.substr(dot + 1);
    if (schema.size() >= NAMEDATALEN || name.size() >= NAMEDATALEN || extension.size() >= NAMEDATALEN) continue;
    const Oid found = boundary::guard([&] {
      const Oid schema_oid = get_namespace_oid(schema.c_str(), true);
      Oid type = OidIsValid(schema_oid) ? type_in_schema(schema_oid, name.c_str()) : InvalidOid;
      if (!OidIsValid(type) && !extension.empty()) type = type_of_extension(extension.c_str(), name.c_str());
      return is_column_type(type) ? type : InvalidOid;
    });
    if (OidIsValid(found)) return found;
  }
  return InvalidOid;
}

bool is_extension_object(Oid class_id, Oid object) { return OidIsValid(getExtensionOfObject(class_id, object)); }

// The owner of an extension need not be a superuser and can add types to it. So the owner of the type counts as well.
bool belongs_to_extension(const FormData_pg_type* row) {
  if (!superuser_arg(row->typowner)) return false;
  return is_extension_object(TypeRelationId, row->oid) ||
         (OidIsValid(row->typrelid) && is_extension_object(RelationRelationId, row->typrelid));
}

bool is_trusted_type(Oid type);

bool are_trusted_columns(Oid composite) {
  TupleDesc desc = lookup_rowtype_tupdesc_copy(composite, -1);
  bool trusted = true;
  for (int i = 0; trusted && i < desc->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(desc, i);
    trusted = attribute->attisdropped || is_trusted_type(attribute->atttypid);
  }
  FreeTupleDesc(desc);
  return trusted;
}

// The owner of a type decides which code runs when values of it are made and compared: checks of a domain, casts and
// operators of an enum. So a file may only name types that come with the server or an extension, and whose parts do.
// May ereport.
bool is_trusted_type(Oid type) {
  check_stack_depth();
  if (type < FirstNormalObjectId) return true;  // made by initdb
  HeapTuple tuple = SearchSysCacheCopy1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) return false;
  const auto* row = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple));
  if (IsTrueArrayType(row)) return is_trusted_type(row->typelem);  // extensions own element types, not their arrays
  if (row->typtype == TYPTYPE_MULTIRANGE) return is_trusted_type(get_multirange_range(type));
  if (row->typnamespace != PG_CATALOG_NAMESPACE && !belongs_to_extension(row)) return false;
  switch (row->typtype) {
    case TYPTYPE_DOMAIN: return is_trusted_type(row->typbasetype);
    case TYPTYPE_RANGE: return is_trusted_type(get_range_subtype(type));
    case TYPTYPE_COMPOSITE: return are_trusted_columns(type);
    default: return true;
  }
}

// PostGIS's type modifier: SRID, geometry type, Z and M.
struct GeometryModifier {
  int32_t srid = 0;
  uint32_t type = 0;  // 0: any
  bool has_z = false, has_m = false;

  explicit GeometryModifier(int32_t typmod) {
    if (typmod < 0) return;
    const auto bits = static_cast<uint32_t>(typmod);
    srid = static_cast<int32_t>(bits >> 8 & 0x1FFFFF);
    type = bits >> 2 & 0x3F;
    has_z = (bits & 2) != 0;
    has_m = (bits & 1) != 0;
  }
  explicit GeometryModifier(const format::geoarrow::GeometryField& field) : srid(field.srid) {
    if (field.expected.any) return;
    type = static_cast<uint32_t>(field.expected.type);
    has_z = field.expected.has_z;
    has_m = field.expected.has_m;
  }
  int32_t typmod() const {
    const uint32_t bits = static_cast<uint32_t>(srid) << 8 | type << 2 | (has_z ? 2u : 0u) | (has_m ? 1u : 0u);
    return bits == 0 ? -1 : static_cast<int32_t>(bits);
  }
};

SqlType geometry_type(const format::geoarrow::GeometryField& field, NamedTypes which) {
  const Oid found = boundary::guard([which] {
    const Oid type = type_of_extension("postgis", "geometry");
    const bool taken = OidIsValid(type) && (which == NamedTypes::kAny || is_trusted_type(type));
    return taken ? type : InvalidOid;
  });
  return OidIsValid(found) ? SqlType{found, GeometryModifier(field).typmod()} : SqlType{};
}

// The type that the field's metadata name; oid is InvalidOid when there is none or `which` does not allow it.
SqlType named_type(const Field& field, NamedTypes which) {
  SqlType type;
  if (const std::string* name = find_metadata(field, "pg_type")) {
    const Oid found = find_named_type(*name);
    if (OidIsValid(found) && (which == NamedTypes::kAny || boundary::guard([=] { return is_trusted_type(found); })))
      type.oid = found;
    const std::string* modifier = find_metadata(field, "pg_typmod");
    if (modifier != nullptr) std::from_chars(modifier->data(), modifier->data() + modifier->size(), type.typmod);
    if (type.typmod < 0) type.typmod = -1;
    if (type.oid == BPCHAROID && type.typmod < 0 && field.layout == Layout::kFixedBinary)
      type.typmod = field.byte_width + VARHDRSZ;
  } else if (const std::string* extension = find_metadata(field, "ARROW:extension:name")) {
    if (*extension == "arrow.uuid") type.oid = UUIDOID;
    if (*extension == "arrow.json") type.oid = JSONBOID;
    if (const auto form = format::geoarrow::geometry_field(field)) type = geometry_type(*form, which);
  }
  return type;
}

/// Implements the types of columnar::sql_type_of() for PostgreSQL. All functions may throw.
struct Names {
  using Type = SqlType;
  NamedTypes which;

  static SqlType builtin(registry::TypeId type, const Field& field) {
    if (columnar::is_decimal(field.layout)) return {NUMERICOID, numeric_typmod(field.precision, field.scale)};
    if (field.layout == Layout::kUInt64) return {NUMERICOID, numeric_typmod(20, 0)};
    if (type == registry::TypeId::kFloat2) {
      const Oid half = boundary::guard([] { return type_in_schema(PG_CATALOG_NAMESPACE, "float2"); });
      return {OidIsValid(half) ? half : Oid{FLOAT4OID}, -1};
    }
    return {registry::type_info(type).pg_oid, -1};
  }
  std::optional<SqlType> named(const Field& field) const {
    const SqlType type = named_type(field, which);
    if (OidIsValid(type.oid) && fit(field, type) != Fit::kNone) return type;
    return std::nullopt;
  }
  static std::optional<SqlType> array_of(const SqlType& element) {
    const Oid array = boundary::guard([=] {
      const bool nests = !OidIsValid(element.oid) || OidIsValid(get_element_type(element.oid));
      return nests ? InvalidOid : get_array_type(element.oid);
    });
    return OidIsValid(array) ? std::optional(SqlType{array, element.typmod}) : std::nullopt;
  }
  static bool is_json(const SqlType& type) { return type.oid == JSONBOID; }
};

}  // namespace

std::string unsupported_feature(const Field& field) { return field.unsupported; }

SqlType stored_type_of(const Field& field, NamedTypes which) { return columnar::stored_sql_type(field, Names{which}); }

SqlType sql_type_of(const Field& field, NamedTypes which) { return columnar::sql_type_of(field, Names{which}); }

bool has_statistics(const Field& field, SqlType declared) {
  if (columnar::is_text(field.layout)) return declared.oid == TEXTOID || declared.oid == VARCHAROID;
  if (columnar::is_decimal(field.layout) && !has_engine_scale(field)) return false;
  if (field.layout == Layout::kUInt64 && (declared.oid == XID8OID || declared.oid == PG_LSNOID)) return true;
  const Oid stored = stored_type_of(field).oid;
  return stored == declared.oid || widens(stored, declared.oid);
}

namespace {

// True for types that Arrow has itself, and bytea. A text field is not read as such a type, unless the file names the
// type.
bool has_arrow_type(Oid type) {
  switch (type) {
    case BOOLOID:
    case INT2OID:
    case INT4OID:
    case INT8OID:
    case FLOAT4OID:
    case FLOAT8OID:
    case NUMERICOID:
    case DATEOID:
    case TIMEOID:
    case TIMESTAMPOID:
    case TIMESTAMPTZOID:
    case INTERVALOID:
    case BYTEAOID: return true;
    default: return false;
  }
}

// True if the file names this built-in type for the field's values.
bool is_named(const Field& field, Oid type) { return named_type(field, NamedTypes::kTrusted).oid == type; }

bool is_own_type(Oid type, registry::TypeId id) {
  const registry::TypeInfo* info = boundary::guard([type] { return own_type(type); });
  return info == &registry::type_info(id);
}

bool decimal_holds(const Field& field, SqlType declared) {
  if (declared.typmod < 0) return true;
  return numeric_typmod_scale(declared.typmod) == field.scale &&
         numeric_typmod_precision(declared.typmod) >= field.precision;
}

bool reads_fixed_binary(int32_t width, SqlType base) {
  switch (base.oid) {
    case BYTEAOID: return true;
    case BPCHAROID: return base.typmod < 0 || base.typmod == width + VARHDRSZ;
    case UUIDOID: return width == 16;
    case TIDOID:
    case MACADDROID: return width == 6;
    case MACADDR8OID: return width == 8;
    case INETOID:
    case CIDROID: return width == 4 || width == 16;
    default: return false;
  }
}

bool reads_uint64(SqlType base) {
  if (base.oid == XID8OID || base.oid == PG_LSNOID || base.oid == INT8OID) return true;
  if (base.oid != NUMERICOID) return false;
  return base.typmod < 0 || (numeric_typmod_scale(base.typmod) == 0 && numeric_typmod_precision(base.typmod) >= 20);
}

bool reads_value(const Field& field, SqlType base) {
  if (columnar::is_decimal(field.layout)) return base.oid == NUMERICOID && decimal_holds(field, base);
  switch (field.layout) {
    case Layout::kFixedBinary: return reads_fixed_binary(field.byte_width, base);
    case Layout::kUInt64: return reads_uint64(base);
    case Layout::kUInt32: return base.oid == INT8OID || base.oid == OIDOID || base.oid == XIDOID || base.oid == CIDOID;
    case Layout::kInt8:
      return base.oid == INT2OID || widens(INT2OID, base.oid) || is_own_type(base.oid, registry::TypeId::kInt1);
    case Layout::kFloat16: return base.oid == FLOAT4OID || is_own_type(base.oid, registry::TypeId::kFloat2);
    case Layout::kInt64: return base.oid == INT8OID || base.oid == CASHOID;
    case Layout::kUtf8:
    case Layout::kLargeUtf8:
    case Layout::kUtf8View: return base.oid == TEXTOID || base.oid == VARCHAROID || base.oid == BPCHAROID;
    default: {
      const Oid stored = stored_type_of(field).oid;
      return base.oid == stored || widens(stored, base.oid);
    }
  }
}

}  // namespace

std::optional<format::geoarrow::GeometryField> geometry_of(const Field& field, SqlType declared) {
  auto form = format::geoarrow::geometry_field(field);
  if (!form.has_value() || !is_own_type(declared.oid, registry::TypeId::kGeometry)) return std::nullopt;
  const GeometryModifier wanted(declared.typmod);
  if (wanted.srid != 0 && form->srid != 0 && wanted.srid != form->srid) return std::nullopt;
  if (wanted.srid != 0) form->srid = wanted.srid;
  if (wanted.type == 0) return wanted.has_z || wanted.has_m ? std::nullopt : form;
  const geo::Expected expected{static_cast<geo::GeometryType>(wanted.type), false, wanted.has_z, wanted.has_m};
  if (!geo::is_simple_type(expected.type) || (!form->expected.any && !(form->expected == expected)))
    return std::nullopt;
  form->expected = expected;
  return form;
}

Conversion conversion_of(const Field& field, SqlType base) {
  if (geometry_of(field, base)) return Conversion::kGeometry;
  const Field& values = value_field(field);
  if (values.layout == Layout::kNull) return Conversion::kNull;
  if (columnar::is_nested(values.layout)) {
    if (base.oid == JSONBOID || base.oid == JSONOID) return Conversion::kJson;
    const bool is_array = OidIsValid(boundary::guard([=] { return get_element_type(base.oid); }));
    if (columnar::is_list(values.layout) && is_array) return Conversion::kArray;
    const bool is_composite = boundary::guard([=] { return get_typtype(base.oid) == TYPTYPE_COMPOSITE; });
    return values.layout == Layout::kStruct && is_composite ? Conversion::kComposite : Conversion::kNone;
  }
  if (reads_value(values, base)) return Conversion::kValue;
  if (!columnar::is_text(values.layout)) return Conversion::kNone;
  if (has_arrow_type(base.oid) && !is_named(values, base.oid)) return Conversion::kNone;
  const bool has_values = boundary::guard([=] { return is_column_type(base.oid); });
  return has_values ? Conversion::kText : Conversion::kNone;
}

const Field* array_leaf(const Field& field, int* dimensions) {
  const Field* leaf = &value_field(field);
  for (*dimensions = 0; columnar::is_list(leaf->layout); leaf = &value_field(leaf->children[0]))
    if (++*dimensions > MAXDIM) return nullptr;
  return leaf;
}

SqlType element_type(SqlType array) {
  return {boundary::guard([=] { return get_element_type(array.oid); }), array.typmod};
}

SqlType domain_base(SqlType type) {
  return boundary::guard([type] {
    SqlType base = type;
    base.oid = getBaseTypeAndTypmod(type.oid, &base.typmod);
    return base;
  });
}

namespace {

std::vector<Part> composite_parts(SqlType composite) {
  TupleDesc desc = boundary::guard([=] { return lookup_rowtype_tupdesc_copy(composite.oid, composite.typmod); });
  std::vector<Part> parts;
  for (int i = 0; i < desc->natts; ++i) {
    const FormData_pg_attribute* attribute = TupleDescAttr(desc, i);
    if (attribute->attisdropped) continue;
    parts.push_back({attribute->attnum, NameStr(attribute->attname), {attribute->atttypid, attribute->atttypmod}, -1});
  }
  FreeTupleDesc(desc);
  return parts;
}

}  // namespace

bool match_parts(const Field& field, SqlType composite, std::vector<Part>* parts) {
  *parts = composite_parts(composite);
  const auto& children = field.children;
  if (parts->size() != children.size()) return false;
  bool by_name = true;
  std::vector<bool> taken(children.size());
  for (Part& part : *parts) {
    size_t i = 0;
    while (i < children.size() && (taken[i] || children[i].name != part.name)) ++i;
    by_name = by_name && i < children.size();
    if (!by_name) break;
    taken[i] = true;
    part.child = static_cast<int>(i);
  }
  for (size_t i = 0; !by_name && i < parts->size(); ++i) (*parts)[i].child = static_cast<int>(i);
  return std::all_of(parts->begin(), parts->end(), [&](const Part& part) {
    return fit(children[static_cast<size_t>(part.child)], part.type) != Fit::kNone;
  });
}

namespace {

// True if the engine has a loader for the field's layout that yields values of `base`.
bool is_loadable(const Field& field, SqlType base) {
  if (field.dictionary && field.layout == Layout::kBool) return false;
  if (columnar::is_text(field.layout))
    return GetDatabaseEncoding() == PG_UTF8 && (base.oid == TEXTOID || base.oid == VARCHAROID || base.oid == BPCHAROID);
  if (columnar::is_decimal(field.layout))
    return field.layout != Layout::kDecimal256 && base.oid == NUMERICOID && has_engine_scale(field);
  switch (field.layout) {
    case Layout::kFixedBinary:
      if (base.oid == BPCHAROID) return GetDatabaseEncoding() == PG_UTF8;
      return base.oid != INETOID && base.oid != CIDROID && reads_fixed_binary(field.byte_width, base);
    case Layout::kUInt64: return base.oid == XID8OID || base.oid == PG_LSNOID;
    case Layout::kUInt32: return base.oid == INT8OID || base.oid == OIDOID;
    default: return columnar::has_engine_loader(field.layout) && base.oid == stored_type_of(field).oid;
  }
}

}  // namespace

Fit fit(const Field& field, SqlType declared) {
  if (!unsupported_feature(field).empty()) return Fit::kNone;
  const SqlType base = domain_base(declared);
  switch (conversion_of(field, base)) {
    case Conversion::kNone: return Fit::kNone;
    case Conversion::kValue:
      return base.oid == declared.oid && is_loadable(field, base) ? Fit::kExact : Fit::kConverted;
    case Conversion::kGeometry: return base.oid == declared.oid ? Fit::kExact : Fit::kConverted;
    case Conversion::kArray: {
      int dimensions;
      const Field* leaf = array_leaf(field, &dimensions);
      return leaf == nullptr || fit(*leaf, element_type(base)) == Fit::kNone ? Fit::kNone : Fit::kConverted;
    }
    case Conversion::kComposite: {
      std::vector<Part> parts;
      return match_parts(value_field(field), base, &parts) ? Fit::kConverted : Fit::kNone;
    }
    case Conversion::kText:
    case Conversion::kJson:
    case Conversion::kNull: return Fit::kConverted;
  }
  return Fit::kNone;
}

const registry::TypeInfo* engine_type(Oid type) {
  if (const registry::TypeInfo* info = registry::find_type(type)) return info;
  const Oid base = type < FirstGenbkiObjectId ? type : getBaseType(type);
  if (OidIsValid(get_element_type(base))) return &registry::type_info(registry::TypeId::kArray);
  if (type < FirstGenbkiObjectId) return nullptr;  // built in, so it is no domain
  if (get_typtype(base) == TYPTYPE_ENUM) return &registry::type_info(registry::TypeId::kEnum);
  const registry::TypeInfo* info = registry::find_type(base);
  return info != nullptr ? info : own_type(base);
}

bool is_geometry(const Node* expr) {
  const registry::TypeInfo* type = engine_type(exprType(expr));
  return type != nullptr && type->id == registry::TypeId::kGeometry;
}

SqlType base_type(SqlType type) {
  if (registry::find_type(type.oid) == nullptr) type.oid = getBaseTypeAndTypmod(type.oid, &type.typmod);
  return type;
}

int declared_precision(SqlType type) { return type.typmod < VARHDRSZ ? -1 : numeric_typmod_precision(type.typmod); }
int declared_scale(SqlType type) { return type.typmod < VARHDRSZ ? 0 : numeric_typmod_scale(type.typmod); }

std::string type_name(SqlType type) {
  return boundary::guard([=] { return format_type_with_typemod(type.oid, type.typmod); });
}

}  // namespace strom::pg::codec
