#include "pg/table/heap/heap_kind.hpp"

#include <algorithm>

#include "columnar/origin.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/cache/shared_columns.hpp"
#include "pg/compat/heap.hpp"
#include "pg/compat/range_table.hpp"
#include "pg/table/heap/cached_table.hpp"
#include "pg/table/heap/heap_rows.hpp"
#include "pg/table/value_type.hpp"

namespace strom::pg::table {

using boundary::guard;

namespace {

// The fraction of a table's pages that are in shared buffers, estimated from `asked` pages.
double buffered_part(Relation relation, BlockNumber pages, int asked) {
  if (pages == 0) return 1;
  if (RelationUsesLocalBuffers(relation)) return 0;
  const BlockNumber count = std::min(pages, static_cast<BlockNumber>(asked));
  int found = 0;
  for (BlockNumber i = 0; i < count; ++i)
    found += compat::is_buffered(relation, static_cast<BlockNumber>((uint64{i} * 2 + 1) * pages / (uint64{count} * 2)));
  return static_cast<double>(found) / count;
}

// The fraction of a table's pages whose columns are in the column cache, estimated from `asked` groups.
double cached_part(Relation relation, BlockNumber pages, const AttrNumber* attributes, int count, int asked) {
  return boundary::entry([=]() -> double {
    if (!CachedTable::is_for(relation, pages)) return 0;
    cache::SharedColumns* shared = cache::SharedColumns::attach();
    return shared == nullptr ? 0 : shared->cached_part(compat::file_of(relation), pages, attributes, count, asked);
  });
}

bool is_out_of_line(const FormData_pg_attribute* attribute) {
  return attribute->attlen == -1 && !is_numeric(attribute->atttypid) &&
         (attribute->attstorage == TYPSTORAGE_EXTENDED || attribute->attstorage == TYPSTORAGE_EXTERNAL);
}

// The fraction of the table's rows with a value that is stored out of line, estimated from the total size of such
// values, which VACUUM records.
double out_of_line_part(Relation relation, double rows) {
  constexpr double kPagesOfValue = 1;
  const Oid toast = relation->rd_rel->reltoastrelid;
  if (!OidIsValid(toast) || rows < 1) return 0;
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(toast));
  if (!HeapTupleIsValid(tuple)) return 0;
  const int32 pages = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relpages;
  ReleaseSysCache(tuple);
  return std::clamp(pages / (kPagesOfValue * rows), 0.0, 1.0);
}

void describe_column(ColumnFacts* facts, const FormData_pg_attribute* attribute) {
  boundary::entry([&] { set_type(facts, attribute->atttypid, attribute->atttypmod); });
  format::heap::Storage storage;
  if (!facts->readable) return;
  facts->readable = heap_storage(*attribute, facts->type.type, &storage);
  if (!facts->readable) facts->reason = "column is stored in a form that the engine does not read";
  facts->out_of_line = is_out_of_line(attribute);
}

class HeapKind final : public TableKind {
 public:
  const char* name() const override { return "heap table"; }

  // Excludes catalogs, which are small and are read while a plan is made.
  bool is_kind_of(const RelOptInfo*, const RangeTblEntry* rte) const override {
    if (rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW) return false;
    return rte->relid >= FirstNormalObjectId && compat::is_heap(rte->relid);
  }

  void describe(PlannedTable* table, const Bitmapset* attributes, int asked_pages) const override {
    const Relation relation = table_open(table->relid, NoLock);
    const TupleDesc descriptor = RelationGetDescr(relation);
    bool any_out_of_line = false;
    auto* wanted = static_cast<AttrNumber*>(palloc(sizeof(AttrNumber) * static_cast<Size>(descriptor->natts + 1)));
    int wanted_count = 0;
    int member = -1;
    while ((member = bms_next_member(attributes, member)) >= 0) {
      const int attnum = member + FirstLowInvalidHeapAttributeNumber;
      if (attnum == TableOidAttributeNumber) boundary::entry([&] { set_type(table->column(attnum), OIDOID, -1); });
      if (attnum == SelfItemPointerAttributeNumber)
        boundary::entry([&] { set_type(table->column(attnum), TIDOID, -1); });
      if (attnum <= 0) continue;
      wanted[wanted_count++] = static_cast<AttrNumber>(attnum);
      const FormData_pg_attribute* attribute = TupleDescAttr(descriptor, attnum - 1);
      ColumnFacts* facts = table->column(attnum);
      describe_column(facts, attribute);
      any_out_of_line = any_out_of_line || facts->out_of_line;
    }
    const RelOptInfo& rel = *table->rel;
    Estimate& estimate = table->estimate;
    estimate.rows = rel.tuples;
    estimate.pages = rel.pages;
    estimate.buffered = buffered_part(relation, rel.pages, asked_pages);
    estimate.cached = cached_part(relation, rel.pages, wanted, wanted_count, asked_pages);
    estimate.row_form = 1;
    estimate.may_be_unheld = rel.pages > 0;
    if (any_out_of_line) estimate.out_of_line = out_of_line_part(relation, rel.tuples);
    table_close(relation, NoLock);
  }

  bool has_blocks() const override { return true; }

  Storage storage(Oid relid) const override {
    const compat::FileId file = guard([relid] {
      Relation relation = table_open(relid, NoLock);
      const compat::FileId found = compat::file_of(relation);
      table_close(relation, NoLock);
      return found;
    });
    return {{columnar::table_label(file.tablespace, file.database, file.file)}, DataDir};
  }

  std::unique_ptr<source::RowSource> open(const TableToRead& table) const override {
    const Relation relation = guard([&table] { return compat::relation_of(table.estate, table.index); });
    return std::make_unique<HeapRows>(relation, table.estate->es_snapshot, table.attributes, *table.types);
  }
};

}  // namespace

const TableKind& heap_kind() {
  static const HeapKind kind;
  return kind;
}

}  // namespace strom::pg::table
