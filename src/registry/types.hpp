// SQL types known to the engine and how a value of each lies in a register. Generated from types.def.
#pragma once

#include <cstdint>

namespace strom::registry {

/// Layout of one value in a tile register.
enum class Phys : uint8_t {
  kBool,  // uint8_t, 0 or 1
  kI32,   // int32_t: int1, int2 and int4; "char" as the unsigned byte; date as days since 2000-01-01, INT32_MIN/MAX =
          // -/+infinity
  kI64,   // int64_t: int8; timestamps as microseconds since 2000-01-01 UTC, INT64_MIN/MAX = -/+infinity;
          // time as microseconds of the day; oid; enum values as their OIDs; money as cents; macaddr and macaddr8 as
          // numbers, see engine/expr/network.hpp
  kI128,  // __int128: numeric as unscaled integer, the scale being part of the expression's static type, or with its
          // scale in the lower bits (TypeId::kDecimal, see base/int128.hpp); interval, uuid and timetz as PostgreSQL's
          // bytes
  kF32,   // float: float4 and float2
  kF64,   // double
  kStr,   // StrView: pointer and byte length; char(n) values carry their padding; bytea; inet and cidr as stored; the
          // root container of a jsonb; an array, a geometry without its varlena header
};

enum class TypeId : uint8_t {
#define STROM_TYPE(name, pg_name, oid, phys) name,
#include "registry/types.def"
#undef STROM_TYPE
};

constexpr int kTypeCount = 0
#define STROM_TYPE(name, pg_name, oid, phys) +1
#include "registry/types.def"
#undef STROM_TYPE
    ;

struct TypeInfo {
  TypeId id;
  const char* pg_name;  // in pg_catalog
  uint32_t pg_oid;      // of a built-in type; 0: another one
  Phys phys;
};

inline constexpr TypeInfo kTypes[] = {
#define STROM_TYPE(name, pg_name, oid, phys) {TypeId::name, pg_name, oid, Phys::phys},
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
constexpr bool orders_as_register(TypeId id) {
  switch (id) {
    case TypeId::kBpchar:
    case TypeId::kInterval:
    case TypeId::kUuid:
    case TypeId::kTimeTz:
    case TypeId::kEnum:
    case TypeId::kInet:
    case TypeId::kCidr:
    case TypeId::kJsonb:
    case TypeId::kArray:
    case TypeId::kGeometry: return false;
    default: return true;
  }
}

/// Values are equal in SQL exactly when their registers have the same bytes (texts: under a deterministic collation).
constexpr bool is_equal_by_bits(TypeId id) {
  switch (id) {
    case TypeId::kFloat2:
    case TypeId::kFloat4:
    case TypeId::kFloat8:
    case TypeId::kDecimal:
    case TypeId::kBpchar:
    case TypeId::kInterval:
    case TypeId::kTimeTz:
    case TypeId::kInet:
    case TypeId::kCidr:
    case TypeId::kJsonb:
    case TypeId::kGeometry: return false;
    default: return true;
  }
}

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
