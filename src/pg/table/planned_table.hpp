// What a kind of table tells of a table while a query is planned. Plain structs in planner memory. Used by
// table/table_kind.hpp and by the planner.
#pragma once

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::table {

/// A column as the engine sees it.
struct ColumnFacts {
  bool readable;
  engine::plan::ValueType type;
  const char* reason;   // why it is not readable; nullptr for columns that the query does not use
  bool out_of_line;     // values may be stored out of line
  int32_t char_length;  // n of a char(n) that is read from texts of any length; 0 for others
};

/// How a table's rows are stored, as far as costs depend on it. Of several tables: sums, and shares of all of them.
struct Estimate {
  double rows;
  double pages;        // that the session reads one after another; 0: engine threads find the rows where they are
  double buffered;     // of the pages, those in shared buffers: 0 .. 1
  double cached;       // of the pages, those whose columns are in the column cache: 0 .. 1
  double row_form;     // of the rows, those of which columns have to be made: 0 .. 1
  double out_of_line;  // of the rows, those that are left to PostgreSQL for a value that is wanted: 0 .. 1
  bool may_be_unheld;  // numerics may be values that the engine cannot hold (NaN)
};

/// Where the facts of column `attnum` are, of a table whose last column is `last`: tableoid is the first, and ctid
/// follows the last.
inline int place_of(int attnum, int last) {
  return attnum > 0 ? attnum : attnum == SelfItemPointerAttributeNumber ? last + 1 : 0;
}

/// A table while a query is planned, in planner memory.
struct PlannedTable {
  RelOptInfo* rel;
  Oid relid;
  ColumnFacts* columns;  // by attribute number, see place_of(). All zeros before describe()
  Estimate estimate;     // likewise

  /// Of a column of the user, tableoid or ctid.
  ColumnFacts* column(int attnum) const { return &columns[place_of(attnum, rel->max_attr)]; }
};

/// The kinds are numbered. A plan has the numbers of its tables' kinds; it stays in the session that made it.
using KindNumber = int;
inline constexpr KindNumber kNoKind = -1;

}  // namespace strom::pg::table
