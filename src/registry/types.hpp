// SQL types known to the engine and how a value of each lies in a register. Generated from types.def and
// datum_forms.def.
#pragma once

#include <cstdint>

namespace strom::registry {

/// Layout of one value in a tile register.
enum class Phys : uint8_t {
  kBool,  // uint8_t, 0 or 1
  kI32,   // int32_t: int1, int2 and int4; "char" as the unsigned byte; date as days since 2000-01-01, INT32_MIN/MAX =
          // -/+infinity
  kI64,   // int64_t: int8; timestamps as microseconds since 2000-01-01 UTC, INT64_MIN/MAX = -/+infinity;
          // time as microseconds of the day; oid; enum values as their OIDs; money as cents; pg_lsn; tid; macaddr,
          // macaddr8 as numbers, see engine/expr/network.hpp
  kI128,  // __int128: numeric as unscaled integer, the scale being part of the expression's static type, or with its
          // scale in the lower bits (TypeId::kDecimal, see base/int128.hpp); interval, uuid and timetz as PostgreSQL's
          // bytes
  kF32,   // float: float4 and float2
  kF64,   // double
  kStr,   // StrView: pointer and byte length; char(n) values carry their padding; bytea; inet and cidr as stored; the
          // root container of a jsonb; an array, a geometry without its varlena header
};

/// How a value lies in a Datum, see datum_forms.def.
enum class DatumForm : uint8_t {
#define STROM_DATUM_FORM(name, ...) name,
#include "registry/datum_forms.def"
#undef STROM_DATUM_FORM
};

struct DatumFormInfo {
  int length;  // pg_type's typlen
  Phys phys;
};

inline constexpr DatumFormInfo kDatumForms[] = {
#define STROM_DATUM_FORM(name, length, phys, ...) {length, Phys::phys},
#include "registry/datum_forms.def"
#undef STROM_DATUM_FORM
};

constexpr const DatumFormInfo& form_info(DatumForm form) { return kDatumForms[static_cast<int>(form)]; }

enum class TypeId : uint8_t {
#define STROM_TYPE(name, ...) name,
#include "registry/types.def"
#undef STROM_TYPE
};

constexpr int kTypeCount = 0
#define STROM_TYPE(...) +1
#include "registry/types.def"
#undef STROM_TYPE
    ;

enum class Order : uint8_t { kRegister, kOther };
enum class Equality : uint8_t { kBits, kOther };

struct TypeInfo {
  TypeId id;
  const char* pg_name;  // in pg_catalog
  uint32_t pg_oid;      // of a built-in type; 0: another one
  DatumForm form;
  Phys phys;
  Order order;
  Equality equality;
};

inline constexpr TypeInfo kTypes[] = {
#define STROM_TYPE(name, pg_name, oid, form, order, equality) \
  {TypeId::name, pg_name, oid, DatumForm::form, form_info(DatumForm::form).phys, Order::order, Equality::equality},
#include "registry/types.def"
#undef STROM_TYPE
};

constexpr const TypeInfo& type_info(TypeId id) { return kTypes[static_cast<int>(id)]; }

/// The row of pg_type OID `oid`, or nullptr when the engine does not compute with that type. Enum types and domains
/// have OIDs of their own: see codec::engine_type().
constexpr const TypeInfo* find_type(uint32_t oid) {
  for (const TypeInfo& row : kTypes)
    if (row.pg_oid == oid && oid != 0) return &row;
  return nullptr;
}

/// False for types whose values SQL does not order as their registers.
constexpr bool orders_as_register(TypeId id) { return type_info(id).order == Order::kRegister; }

/// Values are equal in SQL exactly when their registers have the same bytes (texts: under a deterministic collation).
constexpr bool is_equal_by_bits(TypeId id) { return type_info(id).equality == Equality::kBits; }

/// The extension that a type belongs to, where it is neither PostgreSQL's nor ours.
constexpr const char* extension_of(TypeId id) { return id == TypeId::kGeometry ? "postgis" : nullptr; }

/// Values are characters in an encoding, under a collation.
constexpr bool is_text(TypeId id) { return id == TypeId::kText || id == TypeId::kVarchar || id == TypeId::kBpchar; }

/// Bytes of one register value.
constexpr int phys_size(Phys phys) {
  switch (phys) {
    case Phys::kBool: return 1;
    case Phys::kI32:
    case Phys::kF32: return 4;
    case Phys::kI64:
    case Phys::kF64: return 8;
    case Phys::kI128:
    case Phys::kStr: return 16;
  }
  return 0;
}

/// A text value in a register: not owned, not terminated.
struct StrView {
  const char* ptr;
  int64_t len;  // bytes
};

}  // namespace strom::registry
