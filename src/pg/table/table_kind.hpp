// A kind of table that the engine reads. What the planner, the executor and EXPLAIN have to know of it is asked here
// and of its rows (source/row_source.hpp), so that none of them knows the kinds. Used by src/pg/planner and
// src/pg/node; a folder of src/pg/table implements each kind, and kinds.cpp has a row for it.
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

/// Where a table's values are, for devices.
struct Storage {
  std::vector<std::string> labels;  // of what devices cache of it, see columnar::BatchOrigin
  std::string path;                 // a file or folder on it; empty: none
};

/// A table that an execution is to read.
struct TableToRead {
  Oid relid;
  Index index;  // in the range table
  EState* estate;
  std::vector<AttrNumber> attributes;                 // of the columns: of the user, tableoid, ctid
  const std::vector<engine::plan::ValueType>* types;  // of the columns, as planned
};

class TableKind {
 public:
  virtual ~TableKind() = default;

  /// In plain words, as EXPLAIN and errors may have it.
  virtual const char* name() const = 0;

  // ---- Planning: may ereport ----

  /// Whether `rte`, which is a relation, is of this kind.
  virtual bool is_kind_of(const RelOptInfo* rel, const RangeTblEntry* rte) const = 0;
  /// Fills in the facts of the columns `attributes` (as pull_varattnos() has them) and the estimate. `asked_pages`: at
  /// most so many pages are looked at.
  virtual void describe(PlannedTable* table, const Bitmapset* attributes, int asked_pages) const = 0;
  /// Of the rows, as many as may be left when the chunks are left out that the table's statistics rule out; negative:
  /// not known. After describe().
  virtual double rows_left(const RelOptInfo* rel) const {
    (void)rel;
    return -1;
  }
  /// BRIN indexes and PostgreSQL's sampling methods can choose the blocks that are read: RowSource::select_blocks().
  virtual bool has_blocks() const { return false; }

  // ---- C++: throws StatusError and PostgresError ----

  virtual Storage storage(Oid relid) const = 0;
  /// The table has statistics of its chunks that are to be asked: RowSource::statistics().
  virtual bool has_statistics() const { return false; }
  /// EXPLAIN shows more of the table than its name without running the query: the table is opened for it.
  virtual bool is_opened_for_explain() const { return false; }
  virtual std::unique_ptr<source::RowSource> open(const TableToRead& table) const = 0;
};

/// What kind of table a relation is; kNoKind: none that the engine reads. May ereport.
KindNumber find_kind(const RelOptInfo* rel, const RangeTblEntry* rte);
const TableKind& kind(KindNumber number);

/// For a module that brings a kind of its own, when it is loaded; `added` stays. May ereport.
void add_kind(const TableKind* added);
/// Such a module finds the address of add_kind() in PostgreSQL's rendezvous variable of this name, which is set when
/// the extension is loaded.
inline constexpr const char* kAddKindVariable = "pg_strom.add_table_kind";
void offer_add_kind();

}  // namespace strom::pg::table
