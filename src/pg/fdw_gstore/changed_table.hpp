// The table of an INSERT, UPDATE or DELETE that a node of ours does as a whole: a store table, or a partitioned one
// whose partitions are all store tables. May ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::fdw_gstore {

/// As found while the statement is planned.
struct ChangedTable {
  const store::Table* table;  // the table, or the first partition
  bool has_key;               // the table has a primary key; of partitions: all have one, which is the partition key
  List* leaves;               // OIDs of the partitions; NIL: not partitioned
  AttrNumber partitioned_by;  // for partitions: the column of the partition key, and its operator family and collation
  Oid family, collation;
};

/// False: triggers, generated columns, several levels of partitions, other kinds of tables or columns in other places
/// need PostgreSQL's own node. Locks the partitions as the entry says.
bool find_changed_table(const RangeTblEntry* entry, ChangedTable* found);

/// True if a row may belong to another partition when these columns of the table are set: they are in the bounds of the
/// table or of a table that it is a partition of.
bool may_move(Oid relid, const List* columns);

/// Appends the partitions to the plan's range table, so that they are locked with the plan, and changes of them
/// invalidate it. `entry`: of the statement's table.
void add_partitions(PlannedStmt* plan, const RangeTblEntry* entry, const ChangedTable& table);

/// The number of the partition for a value of the partition key; -1: none.
int partition_at(Relation parent, Datum value, bool is_null);

/// The place of the partition with that number among ChangedTable::leaves; -1: it was added after the statement was
/// planned.
int place_among(const List* leaves, Relation parent, int partition);

/// For checks of constraints, whose messages show rows as the statement's table has them. Numbers are places in the
/// range table.
ResultRelInfo* make_target(Relation root, Index root_place, Relation relation, Index place);

}  // namespace strom::pg::fdw_gstore
