// A kind of table that the engine reads. The planner, the executor and EXPLAIN use this interface and that of the rows
// (source/row_source.hpp), so they do not depend on the kinds. Used by src/pg/planner and src/pg/node. Each kind is a
// folder of src/pg/table and a row in kinds.cpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/table/planned_table.hpp"

namespace strom::pg::source {
class RowSource;  // pg/source/row_source.hpp
}

namespace strom::pg::table {

/// The storage of a table's values, for devices.
struct Storage {
  std::vector<std::string> labels;  // names of what devices cache of the table, see columnar::BatchOrigin
  std::string path;                 // a file or folder on the storage; empty: none
};

/// A table that an execution reads.
struct TableToRead {
  Oid relid;
  Index index;  // in the range table
  EState* estate;
  std::vector<AttrNumber> attributes;                 // of the columns: user columns, tableoid, ctid
  const std::vector<engine::plan::ValueType>* types;  // of the columns, as planned
};

class TableKind {
 public:
  virtual ~TableKind() = default;

  /// The name in plain words, for EXPLAIN and errors.
  virtual const char* name() const = 0;

  // ---- Planning: may ereport ----

  /// True if the relation `rte` is of this kind.
  virtual bool is_kind_of(const RelOptInfo* rel, const RangeTblEntry* rte) const = 0;
  /// Fills in the facts of the columns `attributes` (numbered as by pull_varattnos()) and the estimate. Looks at no
  /// more than `asked_pages` pages.
  virtual void describe(PlannedTable* table, const Bitmapset* attributes, int asked_pages) const = 0;
  /// The estimated number of rows in chunks that the table's statistics do not rule out; negative: unknown. Called
  /// after describe().
  virtual double rows_left(const RelOptInfo* rel) const {
    (void)rel;
    return -1;
  }
  /// True if BRIN indexes and PostgreSQL's sampling methods can select the blocks to read: RowSource::select_blocks().
  virtual bool has_blocks() const { return false; }

  // ---- C++: throws StatusError and PostgresError ----

  virtual Storage storage(Oid relid) const = 0;
  /// True if the table has statistics of its chunks for pruning: RowSource::statistics().
  virtual bool has_statistics() const { return false; }
  /// True if EXPLAIN shows more than the table's name without running the query. The table is opened for it.
  virtual bool is_opened_for_explain() const { return false; }
  virtual std::unique_ptr<source::RowSource> open(const TableToRead& table) const = 0;
};

/// The kind of a relation; kNoKind: the engine cannot read it. May ereport.
KindNumber find_kind(const RelOptInfo* rel, const RangeTblEntry* rte);
const TableKind& kind(KindNumber number);

/// Called by a module, when it is loaded, to add a kind of its own. `added` must stay valid. May ereport.
void add_kind(const TableKind* added);
/// The name of a rendezvous variable of PostgreSQL in which such a module finds the address of add_kind(). It is set
/// when the extension is loaded.
inline constexpr const char* kAddKindVariable = "pg_strom.add_table_kind";
void offer_add_kind();

}  // namespace strom::pg::table
