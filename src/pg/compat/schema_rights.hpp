// Rights on schemas: since PostgreSQL 16 one function asks for those on all objects. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {
#include "catalog/pg_namespace.h"
#include "utils/acl.h"
}

namespace strom::pg::compat {

inline AclResult check_schema(Oid schema, Oid role, AclMode mode) {
#if PG_VERSION_NUM >= 160000
  return object_aclcheck(NamespaceRelationId, schema, role, mode);
#else
  return pg_namespace_aclcheck(schema, role, mode);
#endif
}

}  // namespace strom::pg::compat
