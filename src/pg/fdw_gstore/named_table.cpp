#include "pg/fdw_gstore/named_table.hpp"

#include "pg/store/memory.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::fdw_gstore {

void require_owner(Oid relid) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
  if (!HeapTupleIsValid(tuple)) return;  // opening it reports that
  const auto* relation = reinterpret_cast<const FormData_pg_class*>(GETSTRUCT(tuple));
  const char kind = relation->relkind;
  const Oid owner = relation->relowner;
  const char* name = pstrdup(NameStr(relation->relname));
  ReleaseSysCache(tuple);
  if (kind != RELKIND_FOREIGN_TABLE)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a store table", name)));
  if (!has_privs_of_role(GetUserId(), owner))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("must be owner of foreign table %s", name)));
}

Relation open_named_table(Oid relid, LOCKMODE mode) {
  Relation relation = try_relation_open(relid, mode);
  if (relation == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_TABLE), errmsg("relation with OID %u does not exist", relid)));
  if (!store::is_store_table(relation))
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("\"%s\" is not a store table", RelationGetRelationName(relation))));
  return relation;
}

void require_owner(Relation relation) {
  if (!has_privs_of_role(GetUserId(), relation->rd_rel->relowner))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("must be owner of foreign table %s", RelationGetRelationName(relation))));
}

}  // namespace strom::pg::fdw_gstore
