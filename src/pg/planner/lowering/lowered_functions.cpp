#include "pg/planner/lowering/lowered_functions.hpp"

#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>

#include "pg/boundary/boundary.hpp"

namespace strom::pg::planner {

namespace {

constexpr const char* kRows[] = {
#define STROM_LOWERING(...)
#define STROM_LOWERED(function, ...) function,
#include "registry/lowered.def"
#undef STROM_LOWERING
#undef STROM_LOWERED
};

// The function's OID, or InvalidOid if this version of PostgreSQL does not have it.
Oid function_of(const char* signature) {
  return boundary::guard([signature] {
    text* qualified = cstring_to_text(psprintf("pg_catalog.%s", signature));
    LOCAL_FCINFO(call, 1);
    InitFunctionCallInfoData(*call, nullptr, 1, InvalidOid, nullptr, nullptr);
    call->args[0].value = PointerGetDatum(qualified);
    call->args[0].isnull = false;
    const Datum found = to_regprocedure(call);
    return call->isnull ? InvalidOid : DatumGetObjectId(found);
  });
}

// Rows by OID: built-in functions have the same OIDs in all databases.
struct Index {
  std::unordered_map<Oid, int> by_oid;
  std::unordered_map<std::string_view, int> by_name;

  Index() {
    for (int row = 0; row < static_cast<int>(std::size(kRows)); ++row) {
      if (std::strchr(kRows[row], '(') == nullptr || std::strchr(kRows[row], '.') != nullptr)
        by_name.emplace(kRows[row], row);
      else if (const Oid function = function_of(kRows[row]); OidIsValid(function))
        by_oid.emplace(function, row);
    }
  }
};

// May ereport.
const char* plain_type_name(Oid type) {
  if (type < FirstGenbkiObjectId) return format_type_be(type);
  HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for type %u", type);
  const char* name = pstrdup(NameStr(reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typname));
  ReleaseSysCache(tuple);
  return name;
}

// The argument types of a function as "(TYPE,TYPE)", without schemas.
std::string argument_names(Oid function) {
  return boundary::guard([function]() -> const char* {
    Oid* types;
    int count;
    (void)get_func_signature(function, &types, &count);
    StringInfoData text;
    initStringInfo(&text);
    appendStringInfoChar(&text, '(');
    for (int i = 0; i < count; ++i) appendStringInfo(&text, "%s%s", i == 0 ? "" : ",", plain_type_name(types[i]));
    appendStringInfoChar(&text, ')');
    return text.data;
  });
}

}  // namespace

int lowered_row(Oid function, const char* name) {
  static const Index index;
  if (const auto found = index.by_oid.find(function); found != index.by_oid.end()) return found->second;
  if (std::strchr(name, '.') != nullptr) {
    const auto found = index.by_name.find(name + argument_names(function));
    if (found != index.by_name.end()) return found->second;
  }
  const auto found = index.by_name.find(name);
  return found != index.by_name.end() ? found->second : -1;
}

}  // namespace strom::pg::planner
