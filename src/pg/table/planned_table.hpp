// What a kind of table reports about a table while a query is planned. Plain structs in planner memory. Used by
// table/table_kind.hpp and by the planner.
#pragma once

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::table {

/// A column, as the engine sees it.
struct ColumnFacts {
  bool readable;
  engine::plan::ValueType type;
  const char* reason;   // why it is not readable; nullptr also for columns that the query does not use
  bool out_of_line;     // values may be stored out of line
  int32_t char_length;  // n of char(n), if it is read from texts of any length; else 0
};

/// How a table's rows are stored, as far as costs depend on it. For several tables: sums, and fractions of the sums.
struct Estimate {
  double rows;
  double pages;        // that the session reads one after another; 0: engine threads find the rows themselves
  double buffered;     // fraction of the pages that are in shared buffers
  double cached;       // fraction of the pages whose columns are in the column cache
  double row_form;     // fraction of the rows from which columns have to be made
  double out_of_line;  // fraction of the rows that become fallback rows for a needed value
  bool may_be_unheld;  // numerics may have values that the engine cannot represent (NaN)
};

/// The index of the facts about column `attnum`, if the table's last column is `last`: tableoid is the first, and ctid
/// follows the last.
inline int place_of(int attnum, int last) {
  return attnum > 0 ? attnum : attnum == SelfItemPointerAttributeNumber ? last + 1 : 0;
}

/// A table while a query is planned, in planner memory.
struct PlannedTable {
  RelOptInfo* rel;
  Oid relid;
  ColumnFacts* columns;  // indexed by place_of(); all zeros before describe()
  Estimate estimate;     // all zeros before describe()

  /// The facts about a user column, tableoid or ctid.
  ColumnFacts* column(int attnum) const { return &columns[place_of(attnum, rel->max_attr)]; }
};

/// The number of a kind. A plan contains the numbers of its tables' kinds, so it is valid only in the session that made
/// it.
using KindNumber = int;
inline constexpr KindNumber kNoKind = -1;

}  // namespace strom::pg::table
