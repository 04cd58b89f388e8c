// The columns of a heap table that a scan reads, and how engine threads make them from tuples. Used by HeapRows.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "columnar/batch.hpp"
#include "engine/plan/ir.hpp"
#include "format/heap/tuple.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/table/heap/heap_chunk.hpp"

namespace strom::pg::table {

/// The form in which the engine reads attribute `attribute` as values of `type`; false when it cannot. Does not
/// ereport.
bool heap_storage(const FormData_pg_attribute& attribute, registry::TypeId type, format::heap::Storage* storage);

class HeapColumns {
 public:
  /// See HeapRows(). Throws PostgresError, StatusError.
  HeapColumns(Relation relation, const std::vector<AttrNumber>& attnums,
              const std::vector<engine::plan::ValueType>& types);
  HeapColumns(Relation relation, std::vector<format::heap::WantedColumn> wanted);
  HeapColumns(const HeapColumns&) = delete;
  HeapColumns& operator=(const HeapColumns&) = delete;

  const std::vector<AttrNumber>& attnums() const { return attnums_; }
  /// True if all columns are stored in tuples: none is tableoid or ctid.
  bool are_stored() const;
  /// The ids, for the column cache, of the columns that are stored in tuples.
  std::vector<ColumnId> ids() const;
  /// The ids of some columns, by their numbers among all; empty when one of them is not stored.
  std::vector<ColumnId> ids_of(const std::vector<uint32_t>& columns) const;
  /// The layout of pages, for devices.
  columnar::PageLayout page_layout() const;
  const std::string& table_name() const { return table_name_; }
  Oid table_oid() const { return table_oid_; }

  // Called by engine threads, each with chunks of its own.
  // Makes the columns of the chunk's pages.
  Status decode(PageChunk* chunk) const;
  columnar::BatchView view(const PageChunk& chunk) const;
  columnar::BatchView view(CachedChunk* chunk) const;

 private:
  void set_decoder(Relation relation, std::vector<format::heap::WantedColumn> wanted);
  void set_missing(Relation relation, const engine::plan::ValueType& type, format::heap::WantedColumn* column);
  void make_room(PageChunk* chunk) const;
  void make_part(PageChunk* chunk) const;
  bool wants(AttrNumber attnum) const;
  static void set_tids(PageChunk* chunk);
  /// Makes the values of tableoid or ctid.
  template <class Chunk>
  static columnar::ColumnView system_view(const Chunk& chunk, AttrNumber attnum);

  const std::string table_name_;
  const Oid table_oid_;
  std::vector<AttrNumber> attnums_;
  struct Missing {
    std::string bytes;
    registry::StrView view;  // for texts and numerics
  };
  std::deque<Missing> missing_;                         // values for rows that are older than the column
  std::vector<int> numeric_scales_;                     // for each column, see ColumnView::scale
  std::vector<format::heap::AttributeLayout> layouts_;  // of all attributes of the table
  std::unique_ptr<const format::heap::TupleDecoder> decoder_;
};

}  // namespace strom::pg::table
