// Range tables of plans: rights are entries of their own since PostgreSQL 16, and since 18 a plan tells which tables
// may be opened.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// The relation of a range table entry that the plan may open. It is opened when it is first asked for.
inline Relation relation_of(EState* estate, Index place) {
#if PG_VERSION_NUM >= 180000
  return ExecGetRangeTableRelation(estate, place, false);
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

/// Gives a plan the rights of a statement.
inline void set_rights([[maybe_unused]] PlannedStmt* plan, [[maybe_unused]] const Query* statement) {
#if PG_VERSION_NUM >= 160000
  plan->permInfos = statement->rteperminfos;
#endif
}

/// All tables of the plan's range table may be opened.
inline void allow_opening_all([[maybe_unused]] PlannedStmt* plan) {
#if PG_VERSION_NUM >= 180000
  plan->unprunableRelids = bms_add_range(plan->unprunableRelids, 1, list_length(plan->rtable));
#endif
}

}  // namespace strom::pg::compat
