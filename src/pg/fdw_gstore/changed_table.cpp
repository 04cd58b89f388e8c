#include "pg/fdw_gstore/changed_table.hpp"

#include "pg/compat/generated_columns.hpp"
#include "pg/compat/range_table.hpp"
#include "pg/store/server_headers.hpp"

extern "C" {
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
}

namespace strom::pg::fdw_gstore {

namespace {

/// A plan locks all partitions. PostgreSQL's plan of an INSERT locks those that get rows.
constexpr int kMostPartitions = 64;

bool is_simple_table(Relation relation) {
  return store::is_store_table(relation) && relation->trigdesc == nullptr &&
         !compat::has_generated_columns(RelationGetDescr(relation)->constr);
}

bool is_key(const store::Table* table, AttrNumber column) {
  return table->key() >= 0 && table->key_column().attnum == column;
}

bool has_columns_of(Relation partition, Relation parent) {
  const TupleDesc own = RelationGetDescr(partition), other = RelationGetDescr(parent);
  bool same = own->natts == other->natts;
  for (int i = 0; same && i < own->natts; ++i)
    same = TupleDescAttr(own, i)->attisdropped == TupleDescAttr(other, i)->attisdropped &&
           namestrcmp(&TupleDescAttr(own, i)->attname, NameStr(TupleDescAttr(other, i)->attname)) == 0;
  return same;
}

bool find_partitions(Relation parent, LOCKMODE mode, ChangedTable* found) {
  PartitionKey key = RelationGetPartitionKey(parent);
  if (key->partnatts != 1 || key->partattrs[0] == 0 || parent->trigdesc != nullptr) return false;
  found->partitioned_by = key->partattrs[0];
  found->family = key->partopfamily[0];
  found->collation = key->partcollation[0];
  found->has_key = true;
  PartitionDesc partitions = RelationGetPartitionDesc(parent, true);
  if (partitions->nparts > kMostPartitions) return false;
  for (int i = 0; i < partitions->nparts; ++i) {
    // PostgreSQL's plan waits for a partition only when it gets rows.
    if (!ConditionalLockRelationOid(partitions->oids[i], mode)) return false;
    Relation partition = try_relation_open(partitions->oids[i], NoLock);
    if (partition == nullptr) return false;
    const bool fits = is_simple_table(partition) && has_columns_of(partition, parent);
    const store::Table* table = fits ? store::open_table(partition) : nullptr;
    relation_close(partition, NoLock);
    if (!fits) return false;
    if (i == 0) found->table = table;
    found->has_key = found->has_key && is_key(table, found->partitioned_by);
    found->leaves = lappend_oid(found->leaves, partitions->oids[i]);
  }
  return partitions->nparts != 0;
}

}  // namespace

bool find_changed_table(const RangeTblEntry* entry, ChangedTable* found) {
  if (entry->rtekind != RTE_RELATION || entry->securityQuals != NIL) return false;
  if (entry->relkind != RELKIND_FOREIGN_TABLE && entry->relkind != RELKIND_PARTITIONED_TABLE) return false;
  Relation relation = table_open(entry->relid, NoLock);
  bool fits;
  if (entry->relkind == RELKIND_PARTITIONED_TABLE) {
    fits = find_partitions(relation, entry->rellockmode, found);
  } else {
    fits = is_simple_table(relation);
    if (fits) found->table = store::open_table(relation);
    found->has_key = fits && found->table->key() >= 0;
  }
  table_close(relation, NoLock);
  return fits;
}

bool may_move(Oid relid, const List* columns) {
  if (!get_rel_relispartition(relid)) return false;
  Relation relation = table_open(relid, NoLock);
  Bitmapset* attributes = nullptr;
  pull_varattnos(reinterpret_cast<Node*>(RelationGetPartitionQual(relation)), 1, &attributes);
  table_close(relation, NoLock);
  bool found = false;
  ListCell* cell;
  foreach (cell, columns)
    found = found || bms_is_member(lfirst_int(cell) - FirstLowInvalidHeapAttributeNumber, attributes);
  return found;
}

void add_partitions(PlannedStmt* plan, const RangeTblEntry* entry, const ChangedTable& table) {
  ListCell* cell;
  foreach (cell, table.leaves) {
    plan->rtable = lappend(plan->rtable, compat::partition_entry(entry, lfirst_oid(cell)));
    plan->relationOids = lappend_oid(plan->relationOids, lfirst_oid(cell));
  }
  compat::allow_opening_all(plan);
}

int partition_at(Relation parent, Datum value, bool is_null) {
  PartitionKey key = RelationGetPartitionKey(parent);
  PartitionBoundInfo bounds = RelationGetPartitionDesc(parent, true)->boundinfo;
  bool is_equal = false;
  int found = -1;
  if (key->strategy == PARTITION_STRATEGY_HASH) {
    const uint64 hash = compute_partition_hash_value(1, key->partsupfunc, key->partcollation, &value, &is_null);
    found = bounds->indexes[hash % static_cast<uint64>(bounds->nindexes)];
  } else if (key->strategy == PARTITION_STRATEGY_LIST && is_null) {
    if (partition_bound_accepts_nulls(bounds)) found = bounds->null_index;
  } else if (key->strategy == PARTITION_STRATEGY_LIST) {
    const int at = partition_list_bsearch(key->partsupfunc, key->partcollation, bounds, value, &is_equal);
    if (at >= 0 && is_equal) found = bounds->indexes[at];
  } else if (!is_null) {
    const int at = partition_range_datum_bsearch(key->partsupfunc, key->partcollation, bounds, 1, &value, &is_equal);
    found = bounds->indexes[at + 1];
  }
  return found >= 0 ? found : bounds->default_index;
}

int place_among(const List* leaves, Relation parent, int partition) {
  const Oid relid = RelationGetPartitionDesc(parent, true)->oids[partition];
  // Where it was when the statement was planned.
  if (partition < list_length(leaves) && list_nth_oid(leaves, partition) == relid) return partition;
  ListCell* cell;
  foreach (cell, leaves)
    if (lfirst_oid(cell) == relid) return foreach_current_index(cell);
  return -1;
}

ResultRelInfo* make_target(Relation root, Index root_place, Relation relation, Index place) {
  ResultRelInfo* parent = nullptr;
  if (place != root_place) {
    parent = makeNode(ResultRelInfo);
    InitResultRelInfo(parent, root, root_place, nullptr, 0);
  }
  auto* target = makeNode(ResultRelInfo);
  InitResultRelInfo(target, relation, place, parent, 0);
  return target;
}

}  // namespace strom::pg::fdw_gstore
