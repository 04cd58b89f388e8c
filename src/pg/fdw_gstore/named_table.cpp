#include "pg/fdw_gstore/named_table.hpp"

#include "pg/store/memory.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::fdw_gstore {

Relation open_named_table(Oid relid, LOCKMODE mode) {
  Relation relation = table_open(relid, mode);
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
