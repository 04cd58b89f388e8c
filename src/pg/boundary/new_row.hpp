// Rules that a row for a foreign table has to keep. The executor leaves them to foreign servers, and those of ours are
// the tables themselves. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::boundary {

/// Policies of row security, which a partitioned table may have. `kind`: WCO_RLS_INSERT_CHECK or WCO_RLS_UPDATE_CHECK.
inline void check_policies(EState* estate, ResultRelInfo* target, TupleTableSlot* slot, WCOKind kind) {
  if (target->ri_WithCheckOptions != NIL) ExecWithCheckOptions(kind, target, slot, estate);
}

/// NOT NULL, CHECK, and the bounds of a partition. `moves`: the change may move the row to another partition.
inline void check_constraints(EState* estate, ResultRelInfo* target, TupleTableSlot* slot, bool moves) {
  Relation relation = target->ri_RelationDesc;
  slot->tts_tableOid = RelationGetRelid(relation);
  if (relation->rd_att->constr != nullptr) ExecConstraints(target, slot, estate);
  // A row that was routed through the partitioned table is in the right partition, unless an update has moved it.
  if (relation->rd_rel->relispartition && (moves || target->ri_RootResultRelInfo == nullptr))
    ExecPartitionCheck(target, slot, estate, true);
}

}  // namespace strom::pg::boundary
