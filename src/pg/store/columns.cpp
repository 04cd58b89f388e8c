#include "pg/store/columns.hpp"

#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"
#include "registry/types.hpp"

namespace strom::pg::store {

namespace {

using boundary::guard;
using registry::TypeId;

Codec codec_of(Oid base, int16_t length, bool by_value) {
  if (length < 0) return Codec::kVarlena;
  if (!by_value) return Codec::kBytes;
  switch (length) {
    case 1: return base == CHAROID ? Codec::kChar : Codec::kByte;
    case 2: return Codec::kSmall;
    case 4: return base == OIDOID || guard([base] { return type_is_enum(base); }) ? Codec::kObject : Codec::kWord;
    default: return Codec::kLong;
  }
}

uint32_t width_of(Codec codec, int16_t length, const registry::TypeInfo* engine) {
  switch (codec) {
    case Codec::kByte: return 1;
    case Codec::kSmall:
    case Codec::kChar:
    case Codec::kWord: return 4;
    case Codec::kObject:
    case Codec::kLong: return 8;
    case Codec::kBytes: break;
    case Codec::kVarlena: return 0;
  }
  // A timetz has 12 bytes, but the store uses the width of a register.
  const bool is_register = engine != nullptr && engine->phys == registry::Phys::kI128;
  return is_register ? static_cast<uint32_t>(registry::phys_size(engine->phys)) : static_cast<uint32_t>(length);
}

/// True if values are equal exactly if their bytes are equal.
bool can_be_key(const Form_pg_attribute attribute, Oid base) {
  const registry::TypeInfo* type = guard([base] { return codec::engine_type(base); });
  if (type == nullptr || type->id == TypeId::kNumeric) return false;
  const Oid collation = attribute->attcollation;
  if (OidIsValid(collation) && !guard([collation] { return get_collation_isdeterministic(collation); })) return false;
  return registry::is_equal_by_bits(type->id);
}

}  // namespace

Result<std::vector<StoreColumn>> columns_of(Relation relation, const std::string& primary_key, uint64_t max_rows,
                                            rows::Shape* shape) {
  std::vector<StoreColumn> columns;
  const TupleDesc descriptor = RelationGetDescr(relation);
  shape->max_rows = max_rows;
  for (int i = 0; i < descriptor->natts; ++i) {
    const Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
    if (attribute->attisdropped) continue;
    const std::string name = NameStr(attribute->attname);
    StoreColumn column{attribute->attnum, attribute->atttypid, attribute->atttypmod, attribute->attlen, {}, 0};
    const Oid type = attribute->atttypid;
    if (attribute->attlen == -2)
      return Status(ErrorCode::kUnsupported,
                    "column \"" + name + "\" of a store table has a type that cannot be stored");
    const Oid base = guard([type] { return getBaseType(type); });
    column.codec = codec_of(base, attribute->attlen, attribute->attbyval);
    column.width = width_of(column.codec, attribute->attlen, guard([base] { return codec::engine_type(base); }));
    const int32_t typmod = attribute->atttypmod;
    const char* type_name = guard(
        [=] { return format_type_extended(type, typmod, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY); });
    shape->columns.push_back({name, type_name, column.codec == Codec::kVarlena ? rows::Form::kView : rows::Form::kFixed,
                              column.width, type, typmod});
    if (name == primary_key) {
      if (!can_be_key(attribute, base))
        return Status(ErrorCode::kUnsupported, "column \"" + name + "\" cannot be the primary key of a store table")
            .with_detail("Keys are compared byte by byte, which is not how " + shape->columns.back().type +
                         " compares.");
      shape->key = static_cast<int32_t>(columns.size());
    }
    columns.push_back(column);
  }
  if (!primary_key.empty() && shape->key < 0)
    return Status(ErrorCode::kBadOption, "option \"primary_key\" names no column: \"" + primary_key + "\"");
  STROM_TRY(rows::check_shape(*shape));
  return columns;
}

void set_cell(const StoreColumn& column, Datum value, bool is_null, CellSpace* space, rows::Cell* cell) {
  *cell = {};
  if (is_null) return;
  space->words[0] = space->words[1] = 0;
  switch (column.codec) {
    case Codec::kByte: space->words[0] = DatumGetUInt8(value); break;
    case Codec::kSmall: {
      const int32_t wide = DatumGetInt16(value);
      std::memcpy(space->words, &wide, sizeof(wide));
      break;
    }
    case Codec::kChar: space->words[0] = DatumGetUInt8(value); break;
    case Codec::kWord: space->words[0] = DatumGetUInt32(value); break;
    case Codec::kObject: space->words[0] = DatumGetObjectId(value); break;
    case Codec::kLong: space->words[0] = static_cast<uint64_t>(value); break;
    case Codec::kBytes:
      if (column.width == static_cast<uint32_t>(column.length)) {
        *cell = {DatumGetPointer(value), column.width, false};
        return;
      }
      std::memcpy(space->words, DatumGetPointer(value), static_cast<size_t>(column.length));
      break;
    case Codec::kVarlena: {
      // Includes compressed values and values out of line.
      auto* whole = reinterpret_cast<struct varlena*>(DatumGetPointer(value));
      if (VARATT_IS_EXTERNAL(whole) || VARATT_IS_COMPRESSED(whole)) whole = pg_detoast_datum(whole);
      *cell = {VARDATA_ANY(whole), static_cast<uint32_t>(VARSIZE_ANY_EXHDR(whole)), false};
      return;
    }
  }
  *cell = {space->words, column.width, false};
}

Datum from_cell(const StoreColumn& column, const rows::Cell& cell, bool* is_null) {
  *is_null = cell.is_null;
  if (cell.is_null) return Datum{0};
  uint64_t word = 0;
  switch (column.codec) {
    case Codec::kByte: return CharGetDatum(*static_cast<const char*>(cell.data));
    case Codec::kSmall: std::memcpy(&word, cell.data, 4); return Int16GetDatum(static_cast<int16_t>(word));
    case Codec::kChar: return CharGetDatum(*static_cast<const char*>(cell.data));
    case Codec::kWord: std::memcpy(&word, cell.data, 4); return Int32GetDatum(static_cast<int32_t>(word));
    case Codec::kObject: std::memcpy(&word, cell.data, 8); return ObjectIdGetDatum(static_cast<Oid>(word));
    case Codec::kLong: std::memcpy(&word, cell.data, 8); return static_cast<Datum>(word);
    case Codec::kBytes: {
      auto* copy = static_cast<char*>(palloc(static_cast<Size>(column.length)));
      std::memcpy(copy, cell.data, static_cast<size_t>(column.length));
      return PointerGetDatum(copy);
    }
    case Codec::kVarlena: break;
  }
  auto* copy = static_cast<struct varlena*>(palloc(cell.bytes + VARHDRSZ));
  SET_VARSIZE(copy, cell.bytes + VARHDRSZ);
  if (cell.bytes != 0) std::memcpy(VARDATA(copy), cell.data, cell.bytes);
  return PointerGetDatum(copy);
}

}  // namespace strom::pg::store
