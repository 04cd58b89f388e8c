// UPDATE and DELETE of rows that a scan has found in a store table, without the executor's nodes for changes.
// May ereport.
#pragma once

#include "pg/store/change.hpp"

namespace strom::pg::fdw_gstore {

/// The changes of a statement to one table: plain data. `scan` has the row in its scan slot; its projection computes
/// the columns that the statement sets.
struct RowChange {
  ScanState* scan;
  store::Table* table;
  Relation relation;
  ResultRelInfo* target;  // for checks of constraints
  CommandId command;
  bool is_update;
  bool* wanted;        // for each of the table's columns: the scan slot must have it
  int* set = nullptr;  // for each of the table's columns: index of its new value in the scan's output; -1: not changed
  store::CellSpace* spaces = nullptr;
  store::rows::Cell* cells = nullptr;
  TupleTableSlot* checked = nullptr;  // new rows, to check constraints; nullptr: no constraints
  /// Whether the row in the scan slot, another version than the snapshot's, meets the statement's conditions.
  bool (*meets_conditions)(ScanState* scan);
};

/// True if changed rows of the table have to be checked.
bool has_constraints(Relation relation);

/// Sets the members from `set` to `checked`. The others are set already. `columns`: the numbers of the columns that the
/// statement sets, in the order of the scan's output.
void begin_row_change(RowChange* change, const List* columns);

/// Changes the version in the scan's slot. If the row has a newer version, changes that one if it meets the conditions.
/// Returns whether a row was changed.
bool change_row(const RowChange* change, store::Slot version);

}  // namespace strom::pg::fdw_gstore
