// Planning of plain foreign scans over Arrow files. Row counts are exact, from the files' metadata. Costs count the
// bytes of referenced columns in record batches that statistics do not rule out. Partial paths exist as well. The
// plan's fdw_private is the list of referenced attribute numbers; its fdw_exprs are clauses that statistics may decide.
#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/foreign_path.hpp"
#include "pg/pruning/chunk_filter.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/catalog/referenced_columns.hpp"
#include "pg/files/estimate.hpp"
#include "pg/files/pending.hpp"
#include "pg/files/source.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::fdw_arrow {

using namespace files;
namespace {

// Bytes per row of the referenced columns, measured on the first record batch. This is good enough for a cost, and
// avoids touching the metadata of thousands of batches.
double bytes_per_row(const Source& source) {
  if (source.chunks().empty()) return 0;
  const Chunk& chunk = source.chunks().front();
  double bytes = 0;
  for (const SourceColumn& column : source.columns()) {
    const int field = column.fields[chunk.file];
    if (field < 0) continue;
    bytes +=
        static_cast<double>(boundary::value_or_throw(source.files()[chunk.file]->column_bytes(chunk.batch, field)));
  }
  return bytes / static_cast<double>(chunk.rows);
}

// The clauses, with known parameters and stable functions replaced by their values. May ereport.
List* estimated_clauses(PlannerInfo* root, const RelOptInfo* rel) {
  List* result = NIL;
  ListCell* cell;
  foreach (cell, extract_actual_clauses(rel->baserestrictinfo, false))
    result = lappend(result, estimate_expression_value(root, static_cast<Node*>(lfirst(cell))));
  return result;
}

double rows_left(const Source& source, const List* clauses) {
  pruning::ChunkFilter filter(clauses, [&source](const Var* var) { return source.column_of(var->varattno); }, nullptr);
  if (!guc::arrow_fdw::stats_hint_enabled || filter.useful_clauses(source).empty())
    return static_cast<double>(source.total_rows());
  filter.evaluate(nullptr);
  double rows = 0;
  for (size_t chunk = 0; chunk < source.chunks().size(); ++chunk) {
    boundary::check_for_interrupts();
    if (filter.may_match(source, static_cast<int64_t>(chunk))) rows += static_cast<double>(source.chunks()[chunk].rows);
  }
  return rows;
}

ScanEstimate estimate(Oid relid, const Bitmapset* attributes, const List* clauses) {
  const auto source = Source::open(relid, catalog::user_columns(relid, attributes));
  const double left = rows_left(*source, clauses);
  return {static_cast<double>(source->total_rows()), left, static_cast<double>(source->file_bytes()) / BLCKSZ,
          left * bytes_per_row(*source) / BLCKSZ, source->parallel_workers()};
}

// The number of processes among which a parallel scan's work is divided. The leader counts by its free share (as in
// costsize.c).
double parallel_divisor(int workers) {
  constexpr double kLeaderLossPerWorker = 0.3;
  const double leader = 1.0 - kLeaderLossPerWorker * workers;
  return workers + (parallel_leader_participation && leader > 0 ? leader : 0);
}

int parallel_workers(RelOptInfo* rel, const ScanEstimate& scan) {
  if (scan.workers < 0) return compute_parallel_worker(rel, scan.read_pages, -1, max_parallel_workers_per_gather);
  return std::min(scan.workers, max_parallel_workers_per_gather);
}

void add_scan_path(PlannerInfo* root, RelOptInfo* rel, const ScanEstimate& scan, int workers) {
  const double divisor = workers > 0 ? parallel_divisor(workers) : 1.0;
  const Cost startup = rel->baserestrictcost.startup + rel->reltarget->cost.startup;
  const Cost cpu =
      (cpu_tuple_cost + rel->baserestrictcost.per_tuple) * scan.rows_left + rel->reltarget->cost.per_tuple * rel->rows;
  const double rows = workers > 0 ? clamp_row_est(rel->rows / divisor) : rel->rows;
  const Cost total = startup + seq_page_cost * scan.read_pages + cpu / divisor;
  ForeignPath* path = compat::make_foreign_scan_path(root, rel, rows, !guc::arrow_fdw::enabled, startup, total, NIL);
  path->path.parallel_workers = workers;
  path->path.parallel_aware = workers > 0;
  if (workers > 0)
    add_partial_path(rel, &path->path);
  else
    add_path(rel, &path->path);
}

}  // namespace
}  // namespace strom::pg::fdw_arrow

namespace fdw = strom::pg::fdw_arrow;
namespace catalog = strom::pg::catalog;
namespace files = strom::pg::files;
using strom::pg::boundary::entry;

void strom_arrow_rel_size(PlannerInfo* root, RelOptInfo* baserel, Oid relid) {
  const Bitmapset* attributes = catalog::referenced_attributes(baserel);
  auto* scan = static_cast<files::ScanEstimate*>(palloc(sizeof(files::ScanEstimate)));
  const List* clauses = fdw::estimated_clauses(root, baserel);
  *scan = entry([&] { return fdw::estimate(relid, attributes, clauses); });
  baserel->fdw_private = scan;
  baserel->tuples = scan->rows;
  baserel->pages = static_cast<BlockNumber>(std::min<double>(scan->file_pages, MaxBlockNumber));
  set_baserel_size_estimates(root, baserel);
  baserel->rows = clamp_row_est(std::min(baserel->rows, scan->rows_left));
}

void strom_arrow_paths(PlannerInfo* root, RelOptInfo* baserel, Oid relid) {
  const files::ScanEstimate& scan = *files::estimate_of(baserel);
  fdw::add_scan_path(root, baserel, scan, 0);
  if (!baserel->consider_parallel || baserel->lateral_relids != nullptr) return;
  const int workers = fdw::parallel_workers(baserel, scan);
  if (workers > 0) fdw::add_scan_path(root, baserel, scan, workers);
}

ForeignScan* strom_arrow_plan(PlannerInfo* root, RelOptInfo* baserel, Oid relid, ForeignPath* best_path, List* tlist,
                              List* scan_clauses, Plan* outer_plan) {
  Bitmapset* attributes = catalog::referenced_attributes(baserel);
  scan_clauses = extract_actual_clauses(scan_clauses, false);
  // Uses reltarget instead of `tlist`: the latter may be the whole row, although only the columns of reltarget are
  // used.
  pull_varattnos(reinterpret_cast<Node*>(scan_clauses), baserel->relid, &attributes);
  List* attnums = entry([&] {
    List* list = NIL;
    for (AttrNumber attnum : catalog::user_columns(relid, attributes))
      list = strom::pg::boundary::guard([list, attnum] { return lappend_int(list, attnum); });
    return list;
  });
  List* hints = NIL;
  ListCell* cell;
  foreach (cell, scan_clauses)
    if (!contain_subplans(static_cast<Node*>(lfirst(cell)))) hints = lappend(hints, lfirst(cell));
  // PostgreSQL cannot hold rows with all columns of a very wide table.
  if (list_length(tlist) > MaxTupleAttributeNumber) tlist = make_tlist_from_pathtarget(best_path->path.pathtarget);
  return make_foreignscan(tlist, scan_clauses, baserel->relid, hints, attnums, NIL, NIL, outer_plan);
}

bool strom_arrow_parallel_safe(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* rte) {
  return !files::has_pending_rows(rte->relid);  // workers do not see them
}
