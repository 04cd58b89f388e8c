#include "pg/table/arrow/arrow_kind.hpp"

#include "columnar/layout.hpp"
#include "columnar/origin.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/files/arrow_routine.hpp"
#include "pg/catalog/referenced_columns.hpp"
#include "pg/files/estimate.hpp"
#include "pg/files/source.hpp"
#include "pg/guc/guc.hpp"
#include "pg/table/arrow/arrow_rows.hpp"
#include "pg/table/value_type.hpp"

namespace strom::pg::table {

namespace {

// C++.
void describe_column(const files::Source& source, size_t index, ColumnFacts* facts) {
  const files::SourceColumn& column = source.columns()[index];
  const auto field = [&]() -> const columnar::Field& { return source.field(0, static_cast<int>(index)); };
  int32_t typmod = column.type.typmod;
  if (!column.engine_readable) {
    facts->reason = "column is stored differently from its type, or differently in different files";
    return;
  }
  if (column.type.oid == NUMERICOID && typmod < 0 && !source.files().empty())
    typmod = codec::stored_type_of(field()).typmod;
  if (column.type.oid == NUMERICOID && typmod < 0)
    facts->reason = "numeric of files that are yet to come";
  else
    set_type(facts, column.type.oid, typmod);
  if (column.type.oid == BPCHAROID && typmod >= VARHDRSZ && !source.files().empty() &&
      columnar::is_text(field().layout))
    facts->char_length = typmod - VARHDRSZ;
}

class ArrowKind final : public TableKind {
 public:
  const char* name() const override { return "Arrow table"; }

  bool is_kind_of(const RelOptInfo* rel, const RangeTblEntry* rte) const override {
    return rte->relkind == RELKIND_FOREIGN_TABLE && files::is_arrow_table(rel);
  }

  // The facts come from the table's files.
  void describe(PlannedTable* table, const Bitmapset* attributes, int) const override {
    boundary::entry([&] {
      const std::vector<AttrNumber> wanted = catalog::user_columns(table->relid, attributes);
      const auto source = files::Source::open(table->relid, wanted);
      for (size_t i = 0; i < wanted.size(); ++i) describe_column(*source, i, table->column(wanted[i]));
      table->estimate.rows = static_cast<double>(source->total_rows());
    });
  }

  double rows_left(const RelOptInfo* rel) const override {
    const files::ScanEstimate* estimate = files::estimate_of(rel);
    return estimate == nullptr ? -1 : estimate->rows_left;
  }

  Storage storage(Oid relid) const override {
    Storage storage;
    const auto source = files::Source::open(relid, {});
    for (const auto& file : source->files()) storage.labels.push_back(columnar::file_label(file->path()));
    if (!source->files().empty()) storage.path = source->files().front()->path();
    return storage;
  }

  bool has_statistics() const override { return guc::arrow_fdw::stats_hint_enabled; }
  bool is_opened_for_explain() const override { return true; }

  std::unique_ptr<source::RowSource> open(const TableToRead& table) const override {
    return std::make_unique<ArrowRows>(files::Source::open(table.relid, table.attributes));
  }
};

}  // namespace

const TableKind& arrow_kind() {
  static const ArrowKind kind;
  return kind;
}

}  // namespace strom::pg::table
