#include "pg/table/store/store_kind.hpp"

#include "columnar/origin.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/range_table.hpp"
#include "pg/store/memory.hpp"
#include "pg/store/routine.hpp"
#include "pg/table/store/store_rows.hpp"
#include "pg/table/value_type.hpp"

namespace strom::pg::table {

using boundary::guard;

namespace {

/// C++.
void describe_column(const store::Table& table, AttrNumber attnum, ColumnFacts* facts) {
  for (const store::StoreColumn& column : table.columns) {
    if (column.attnum != attnum) continue;
    set_type(facts, column.type, column.typmod);
    StoredAs stored;
    if (!facts->readable || stored_as(column, facts->type.type, &stored)) return;
    facts->readable = false;
    facts->reason = "column is stored in a form that the engine does not read";
  }
}

class StoreKind final : public TableKind {
 public:
  const char* name() const override { return "store table"; }

  bool is_kind_of(const RelOptInfo* rel, const RangeTblEntry* rte) const override {
    return rte->relkind == RELKIND_FOREIGN_TABLE && store::is_store_rel(rel);
  }

  void describe(PlannedTable* table, const Bitmapset* attributes, int) const override {
    const Relation relation = table_open(table->relid, NoLock);
    const store::Table* opened = store::open_table(relation);
    int member = -1;
    while ((member = bms_next_member(attributes, member)) >= 0) {
      const int attnum = member + FirstLowInvalidHeapAttributeNumber;
      if (attnum <= 0) continue;
      ColumnFacts* facts = table->column(attnum);
      boundary::entry([=] { describe_column(*opened, static_cast<AttrNumber>(attnum), facts); });
      table->estimate.may_be_unheld = table->estimate.may_be_unheld || facts->type.type == registry::TypeId::kNumeric ||
                                      facts->type.type == registry::TypeId::kDecimal;
    }
    table->estimate.rows = table->rel->tuples;
    table_close(relation, NoLock);
  }

  Storage storage(Oid relid) const override { return {{columnar::relation_label(MyDatabaseId, relid)}, {}}; }

  std::unique_ptr<source::RowSource> open(const TableToRead& table) const override {
    const store::Table* opened = guard([&table] {
      return static_cast<const store::Table*>(store::open_table(compat::relation_of(table.estate, table.index)));
    });
    return std::make_unique<StoreRows>(opened, table.estate->es_snapshot, table.attributes, *table.types);
  }
};

}  // namespace

const TableKind& store_kind() {
  static const StoreKind kind;
  return kind;
}

}  // namespace strom::pg::table
