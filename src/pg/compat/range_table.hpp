// Range tables of plans: rights are entries of their own since PostgreSQL 16, and since 18 a plan tells which tables
// may be opened.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// The table at `place`, which is opened when it is first asked for.
inline Relation range_table_relation(EState* estate, Index place) {
#if PG_VERSION_NUM >= 180000
  return ExecGetRangeTableRelation(estate, place, true);
#else
  return ExecGetRangeTableRelation(estate, place);
#endif
}

/// An entry for a partition of the table of `parent`: no rights are checked for it.
inline RangeTblEntry* partition_entry(const RangeTblEntry* parent, Oid partition) {
  auto* entry = makeNode(RangeTblEntry);
  *entry = *parent;
  entry->relid = partition;
  entry->relkind = RELKIND_FOREIGN_TABLE;
  entry->inh = false;
#if PG_VERSION_NUM >= 160000
  entry->perminfoindex = 0;
#else
  entry->requiredPerms = 0;
#endif
  return entry;
}

/// Sets the range table of a plan for a statement, all of whose tables may be opened.
inline void set_range_table(PlannedStmt* plan, List* entries, [[maybe_unused]] const Query* statement) {
  plan->rtable = entries;
#if PG_VERSION_NUM >= 160000
  plan->permInfos = statement->rteperminfos;
#endif
#if PG_VERSION_NUM >= 180000
  plan->unprunableRelids = bms_add_range(nullptr, 1, list_length(entries));
#endif
}

}  // namespace strom::pg::compat
